/**
 * The completion script for zsh.
 *
 * @module
 */

import type { OptionSpec } from "../command.ts";
import { GLOBAL_OPTIONS } from "../parse.ts";
import { type ShellCommand, spellings, takesPath } from "./shell_tables.ts";

/** The script; works as a file in fpath, and sourced. */
export function zshScript(commands: readonly ShellCommand[]): string {
  return `#compdef service
# zsh completion for service; put it into a folder of fpath as _service, or source it
_service() {
  local curcontext="$curcontext" state line
  typeset -A opt_args
  _arguments -C \\
${specs(GLOBAL_OPTIONS, "    ")}
    '1: :->command' \\
    '*:: :->arguments'
  case $state in
    command)
      local -a commands
      commands=(
${
    commands.map(({ name, summary }) => `        ${quote(`${name}:${escapeColons(summary)}`)}`)
      .join("\n")
  }
      )
      _describe -t commands command commands
      ;;
    arguments)
      case $line[1] in
${commands.map(branch).join("\n")}
      esac
      ;;
  esac
}

if [[ $funcstack[1] == _service ]]; then
  _service "$@"
else
  compdef _service service
fi
`;
}

function branch({ name, subcommands, shared, options }: ShellCommand): string {
  const choices = subcommands.map((each) => `${each.name}\\:"${escapeChoice(each.summary)}"`);
  const positional = choices.length === 0 ? "" : ` \\
            ${quote(`1:subcommand:((${choices.join(" ")}))`)} \\
            '*: :_default'`;
  const whole = `          _arguments \\
${specs(options, "            ").replace(/ \\$/, "")}${positional}
          ;;`;
  if (options.length === shared.length + GLOBAL_OPTIONS.length) return `        ${name})\n${whole}`;
  const own = subcommands.map((each) =>
    `          ${each.name})
          _arguments \\
${specs([...each.options ?? [], ...shared, ...GLOBAL_OPTIONS], "            ")}
            '1: :' \\
            '*: :_default'
          ;;`
  );
  return `        ${name})
          case $words[2] in
${own.join("\n")}
          *)
${whole}
          esac
          ;;`;
}

/** One line for each option, each ending so that the next one can follow. */
function specs(options: readonly OptionSpec[], indent: string): string {
  return options.map((option) => `${indent}${optionSpec(option)} \\`).join("\n");
}

function optionSpec(option: OptionSpec): string {
  const { value, repeatable, summary } = option;
  const names = spellings(option);
  const exclusive = repeatable ? "*" : `(${names.join(" ")})`;
  // A long option's value may follow an equals sign, a short one's may follow at once.
  const forms = names.map((name) =>
    value === undefined ? name : name.startsWith("--") ? `${name}=` : `${name}+`
  );
  const action = value === undefined ? "" : `:${value}:${takesPath(option) ? "_files" : ""}`;
  const rest = quote(`[${escapeBrackets(summary)}]${action}`);
  return forms.length === 1
    ? quote(exclusive) + forms[0] + rest
    : `${quote(exclusive)}{${forms.join(",")}}${rest}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function escapeColons(text: string): string {
  return text.replace(/[\\:]/g, "\\$&");
}

function escapeBrackets(text: string): string {
  return text.replace(/[\\[\]:]/g, "\\$&");
}

function escapeChoice(text: string): string {
  return text.replace(/[\\":()]/g, "\\$&");
}
