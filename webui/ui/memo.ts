import { Component, type FunctionComponent, h } from "preact";

/** A component that is rendered again only where its properties differ; default: any one of them. */
export function memo<Props extends object>(
  component: FunctionComponent<Props>,
  isSame: (before: Props, after: Props) => boolean = areIdentical,
): FunctionComponent<Props> {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      return !isSame(this.props, next);
    }
    render() {
      return h(component, this.props);
    }
  } as unknown as FunctionComponent<Props>;
}

function areIdentical<Props extends object>(before: Props, after: Props): boolean {
  return (Object.keys(after) as (keyof Props)[]).every((name) => before[name] === after[name]);
}
