import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { FLAGS, takesValue, type FlagName } from "../config/flag-table.ts";
import { COMMANDS } from "./commands/commands.ts";

const page = readFileSync(new URL("../../../../docs/agent.md", import.meta.url), "utf8");

/** The first two cells of each row of the table below a heading. */
function rowsBelow(heading: string): string[][] {
  const section = page.split(/^#+ /m).find((each) => each.startsWith(heading)) ?? "";
  return section
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .replaceAll("\\|", "\u0000")
        .split("|")
        .slice(1, 4)
        .map((cell) => cell.trim().replaceAll("\u0000", "|")),
    );
}

it("docs/agent.md names every command, and no other", () => {
  const told = rowsBelow("Commands").map(([first = ""]) => first);
  for (const { name } of COMMANDS)
    expect(
      told.some((cell) => cell.includes(`attestore ${name}`) || cell.includes(`\`${name}`)),
      name,
    ).toBe(true);
  const firsts = new Set(COMMANDS.map(({ name }) => name.split(" ")[0]));
  for (const cell of told)
    for (const [, word = ""] of cell.matchAll(/attestore ([a-z-]+)/g)) expect(firsts, cell).toContain(word);
});

it("docs/agent.md names every flag with its environment variable and its commands, and no other", () => {
  const expected = (Object.keys(FLAGS) as FlagName[]).map((flag) => {
    const { form, env } = FLAGS[flag];
    const twin = takesValue(flag) ? env : `${env}=${form.startsWith("--no-") ? "false" : "true"}`;
    const of = COMMANDS.filter(({ flags }) => flags.some((each) => each === flag)).map(({ name }) => name);
    return [
      `\`${form}\``,
      `\`${twin}\``,
      of.length === COMMANDS.length || flag === "json" ? "all" : of.join(", "),
    ];
  });
  const sorted = (rows: string[][]): string[] => rows.map((row) => row.join(" | ")).toSorted();
  expect(sorted(rowsBelow("Flags, environment, defaults"))).toEqual(sorted(expected));
});
