import { parseArgs } from "node:util";
import { alarmsOf, APPLICATIONS, encryptSome, VICTIMS } from "../../packages/agent/test/simulated-years.ts";

/**
 * Simulates years of daily restore tests: how often the profile of five applications alarms for
 * nothing, and whether it notices a hundredth of a text column encrypted on one day. Ends with 1 if
 * a source has more than one false alarm in a year. docs/checks.md has the figures.
 */
const { values } = parseArgs({ options: { years: { type: "string", default: "20" } } });
const years = Number(values.years);
const SHARE = 0.01;
/** In each year another few of these days. */
const DAYS = [10, 20, 40, 70, 100, 130, 160, 190, 220, 250, 280, 310, 340, 364];

const seeds = Array.from({ length: years }, (_, at) => 1 + at * 7919);
let worst = 0;
for (const source of Object.keys(APPLICATIONS)) {
  const perYear = seeds.map((seed) => alarmsOf(source, { seed }).length);
  worst = Math.max(worst, ...perYear);
  const all = perYear.reduce((sum, each) => sum + each, 0);
  console.log(`${source}: ${all} false alarms in ${years} years, at most ${Math.max(...perYear)} in one`);
}
for (const [source, table, column] of VICTIMS) {
  const attacks = seeds.flatMap((seed, at) =>
    [0, 5, 10].map((after) => ({ seed, on: DAYS[(at + after) % DAYS.length] ?? 0 })),
  );
  const missed = attacks.filter(({ seed, on }) => {
    const damage = encryptSome(table, column, SHARE, on);
    const alarms = alarmsOf(source, { seed, damage, until: on });
    return !alarms.some((each) => each.day === on && each.table === table && each.column === column);
  });
  const where = missed.length === 0 ? "" : `; missed on days ${missed.map(({ on }) => on).join(", ")}`;
  console.log(
    `${source}, ${table}.${column}: ${attacks.length - missed.length} of ${attacks.length} noticed on that day${where}`,
  );
}
process.exitCode = worst > 1 ? 1 : 0;
