import { firstWords, LIST_SOURCES, type CompletedCommand, type Values } from "./completion-table.ts";

/** A completion function for bash 4 and newer. It does not need bash-completion. */
export function bashCompletion(table: readonly CompletedCommand[]): string {
  return `# bash completion for attestore. Put it where bash looks for it:
#   attestore completion bash > /usr/share/bash-completion/completions/attestore
# or, for one person, into ~/.bashrc: eval "$(attestore completion bash)"

_attestore_words() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_attestore_files() {
  compopt -o filenames 2>/dev/null
  local IFS=$'\\n'
  COMPREPLY=($(compgen -f -- "$cur"))
}

_attestore_sources() {
  _attestore_words "$(${LIST_SOURCES})"
}

_attestore() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev='' command='' word at=1 words=0 skip=0
  COMPREPLY=()
  # The command: the words before the cursor that are neither flags nor their values.
  while ((at < COMP_CWORD)); do
    word=\${COMP_WORDS[at]}
    if ((skip)); then
      skip=0
    elif [[ $word == -* ]]; then
      case $word in
        ${valued(table).join(" | ")}) skip=1 ;;
      esac
    elif [[ $command == '' ]]; then
      command=$word
    else
      case $command in
        ${groups(table).join(" | ")})
          command="$command $word"
          ;;
        *)
          words=$((words + 1))
          ;;
      esac
    fi
    at=$((at + 1))
  done
  if ((skip)); then
    prev=\${COMP_WORDS[COMP_CWORD - 1]}
    case $prev in
${byValues(table)}
    esac
    return
  fi
  if [[ $cur == -* ]]; then
    case $command in
${table.map(({ path, flags }) => `      '${path.join(" ")}') _attestore_words '${lines(flags.map(({ name }) => name))}' ;;`).join("\n")}
      '') _attestore_words '${lines(["--root", "--json", "--quiet", "--verbose", "--help", "--all", "--version"])}' ;;
    esac
    return
  fi
  case "$command:$words" in
    :*) _attestore_words '${lines([...firstWords(table).keys(), "help"])}' ;;
${groups(table)
  .map((group) => `    '${group}:'*) _attestore_words '${lines(seconds(table, group))}' ;;`)
  .join("\n")}
${table.flatMap(({ path, words }) => words.flatMap((values, at) => wordCase(path, values, at))).join("\n")}
  esac
}

complete -F _attestore attestore
`;
}

/** None of our words contains a quote or a blank. */
function lines(words: readonly string[]): string {
  return words.join("\n");
}

function groups(table: readonly CompletedCommand[]): string[] {
  return [
    ...new Set(table.flatMap(({ path: [first = "", second] }) => (second === undefined ? [] : [first]))),
  ];
}

function seconds(table: readonly CompletedCommand[], group: string): string[] {
  return table.flatMap(({ path: [first, second] }) =>
    first === group && second !== undefined ? [second] : [],
  );
}

function valued(table: readonly CompletedCommand[]): string[] {
  const all = table.flatMap(({ flags }) => flags);
  return [...new Set(all.filter(({ values }) => values !== "nothing").map(({ name }) => name))];
}

function byValues(table: readonly CompletedCommand[]): string {
  const all = new Map(table.flatMap(({ flags }) => flags).map(({ name, values }) => [name, values]));
  return [...all]
    .flatMap(([name, values]) => {
      const call = completing(values);
      return call === null ? [] : [`      ${name}) ${call} ;;`];
    })
    .join("\n");
}

function wordCase(path: readonly string[], values: Values, at: number): string[] {
  const call = completing(values);
  return call === null ? [] : [`    '${path.join(" ")}:${at}') ${call} ;;`];
}

function completing(values: Values): string | null {
  if (values === "files") return "_attestore_files";
  if (values === "sources") return "_attestore_sources";
  return typeof values === "string" ? null : `_attestore_words '${lines(values)}'`;
}
