import { singleQuoted } from "@attestore/proof";
import { firstWords, LIST_SOURCES, type CompletedCommand, type Values } from "./completion-table.ts";

/** Completions for fish 3. */
export function fishCompletion(table: readonly CompletedCommand[]): string {
  const first = firstWords(table);
  const firsts = [...first.keys()].join(" ");
  const lines = [...first].map(
    ([name, about]) =>
      `complete -c attestore -n ${singleQuoted(`not __fish_seen_subcommand_from ${firsts}`)} -a ${name} -d ${singleQuoted(about)}`,
  );
  for (const { path, about, flags, words } of table) {
    const [group = "", second] = path;
    if (second !== undefined) {
      const seconds = table
        .filter(({ path: [each] }) => each === group)
        .map(({ path: [, each = ""] }) => each);
      const open = `__fish_seen_subcommand_from ${group}; and not __fish_seen_subcommand_from ${seconds.join(" ")}`;
      lines.push(`complete -c attestore -n ${singleQuoted(open)} -a ${second} -d ${singleQuoted(about)}`);
    }
    const here = path.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
    for (const { name, about: said, values } of flags) {
      const value = values === "nothing" ? "" : values === "files" ? " -r -F" : ` -x${choices(values)}`;
      lines.push(
        `complete -c attestore -n ${singleQuoted(here)} -l ${name.slice(2)}${value} -d ${singleQuoted(said)}`,
      );
    }
    for (const values of words)
      if (choices(values) !== "")
        lines.push(`complete -c attestore -n ${singleQuoted(here)}${choices(values)}`);
  }
  return `# fish completion for attestore. Put it where fish looks for it:
#   attestore completion fish > ~/.config/fish/completions/attestore.fish

function __attestore_sources
    ${LIST_SOURCES}
end

complete -c attestore -f
${lines.join("\n")}
`;
}

function choices(values: Values): string {
  if (values === "sources") return " -a '(__attestore_sources)'";
  return typeof values === "string" ? "" : ` -a ${singleQuoted(values.join(" "))}`;
}
