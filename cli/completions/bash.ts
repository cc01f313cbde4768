/**
 * The completion script for bash 3.2 and later; needs no other package.
 *
 * @module
 */

import type { OptionSpec } from "../command.ts";
import { GLOBAL_OPTIONS } from "../parse.ts";
import { type ShellCommand, spellings, takesPath } from "./shell_tables.ts";

/** The script; its words are names from the tables, which need no quoting. */
export function bashScript(commands: readonly ShellCommand[]): string {
  return `# bash completion for service; source it, or put it into bash_completion.d
_service_table() {
  subcommands="" paths="" values=""
  case "$1" in
    "")
      subcommands="${commands.map(({ name }) => name).join(" ")}"
${options(GLOBAL_OPTIONS)}
      ;;
${commands.map(branch).join("\n")}
    *" "*) ;;
    *) options="" ;;
  esac
}

_service() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" command="" subcommand="" pending="" word i
  local options subcommands paths values IFS=$' \\t\\n'
  COMPREPLY=()
  _service_table ""
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ $word == "=" ]]; then continue; fi
    if [[ -n $pending ]]; then pending=""; continue; fi
    case "$word" in
      -*) if [[ " $paths $values " == *" $word "* ]]; then pending="$word"; fi ;;
      *)
        if [[ -z $command ]]; then
          command="$word"
          _service_table "$command"
        elif [[ -z $subcommand && " $subcommands " == *" $word "* ]]; then
          subcommand="$word"
          _service_table "$command $subcommand"
        fi
        ;;
    esac
  done
  if [[ $cur == "=" ]]; then cur=""; fi
  if [[ -n $pending ]]; then
    if [[ " $paths " == *" $pending "* ]]; then
      IFS=$'\\n'
      COMPREPLY=($(compgen -f -- "$cur"))
      compopt -o filenames 2>/dev/null
    fi
  elif [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif [[ -z $subcommand ]]; then
    COMPREPLY=($(compgen -W "$subcommands" -- "$cur"))
  fi
}

complete -F _service service
`;
}

/** The command's case, and one of each subcommand if they differ in their options. */
function branch({ name, subcommands, shared, options: specs }: ShellCommand): string {
  const names = subcommands.map((each) => each.name).join(" ");
  const differ = specs.length > shared.length + GLOBAL_OPTIONS.length;
  const cases = (differ ? subcommands : []).map((each) =>
    `    "${name} ${each.name}")
${options([...each.options ?? [], ...shared, ...GLOBAL_OPTIONS])}
      ;;`
  );
  return [
    `    ${name})
      subcommands="${names}"
${options(specs)}
      ;;`,
    ...cases,
  ].join("\n");
}

function options(specs: readonly OptionSpec[]): string {
  const words = (some: readonly OptionSpec[]) => some.flatMap(spellings).join(" ");
  const valued = specs.filter(({ value }) => value !== undefined);
  return `      options="${words(specs)}"
      paths="${words(valued.filter(takesPath))}"
      values="${words(valued.filter((spec) => !takesPath(spec)))}"`;
}
