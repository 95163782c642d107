import { singleQuoted } from "@attestore/proof";
import { firstWords, LIST_SOURCES, type CompletedCommand, type Values } from "./completion-table.ts";

/** A completion function for zsh 5. It uses zsh's own `_arguments`. */
export function zshCompletion(table: readonly CompletedCommand[]): string {
  const names = [...firstWords(table)];
  return `#compdef attestore
# zsh completion for attestore. Put it where zsh looks for it, as _attestore:
#   attestore completion zsh > /usr/local/share/zsh/site-functions/_attestore

_attestore_sources() {
  local -a names
  names=(\${(f)"$(${LIST_SOURCES})"})
  compadd -a names
}

_attestore() {
  local context state state_descr line
  local -a commands
  typeset -A opt_args
  _arguments -C '--root[the install root]:directory:_files -/' '--json[print JSON to stdout]' '--help[say more]' \\
    '--quiet[print only the result]' '--verbose[say what is done]' '--all[with --help: every command]' \\
    '--version[the version]' '1: :->command' '*:: :->rest'
  case $state in
    command)
      commands=(
${names.map(([name, about]) => `        ${singleQuoted(`${name}:${about}`)}`).join("\n")}
      )
      _describe command commands
      ;;
    rest)
      case $words[1] in
${names.map(([name]) => ofFirst(table, name)).join("\n")}
      esac
      ;;
  esac
}

_attestore "$@"
`;
}

function ofFirst(table: readonly CompletedCommand[], name: string): string {
  const found = table.filter(({ path }) => path[0] === name);
  const [only] = found;
  if (only !== undefined && only.path.length === 1)
    return `        ${name})\n          ${argumentsOf(only)}\n          ;;`;
  const described = found.map(
    ({ path, about }) => `            ${singleQuoted(`${path[1] ?? ""}:${about}`)}`,
  );
  const each = found.map(
    (command) =>
      `            ${command.path[1] ?? ""})\n              ${argumentsOf(command)}\n              ;;`,
  );
  return `        ${name})
          if ((CURRENT == 2)); then
            commands=(
${described.join("\n")}
            )
            _describe command commands
            return
          fi
          shift words
          ((CURRENT--))
          case $words[1] in
${each.join("\n")}
          esac
          ;;`;
}

function argumentsOf({ flags, words }: CompletedCommand): string {
  const parts = [
    ...flags.map(({ name, about, values }) => {
      const described = `${name}[${about.replaceAll(/[[\]:\\]/g, "\\$&")}]`;
      return singleQuoted(values === "nothing" ? described : `${described}:value:${action(values)}`);
    }),
    ...words.map((values, at) => singleQuoted(`${at + 1}:word:${action(values)}`)),
  ];
  return `_arguments ${parts.join(" ")}`;
}

function action(values: Values): string {
  if (values === "files") return "_files";
  if (values === "sources") return "_attestore_sources";
  return typeof values === "string" ? "" : `(${values.join(" ")})`;
}
