import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

export const SETUPS = ["embedded", "replicas", "patroni"] as const;
export type Setup = (typeof SETUPS)[number];

const HELP = `A soak: rounds of faults under load, and after each round a look at whether what
docs/reliability.md promises still holds. Run it as root, because it mounts small disks.

  npm run soak -- [OPTIONS]

  --rounds N        rounds in all set-ups together (1000)
  --minutes N       end after this time, even if rounds are left
  --seed N          repeat the order of the faults and their lengths; what the processes do in
                    between differs
  --setup LIST      some of embedded, replicas and patroni, with commas (all three);
                    embedded:3,patroni gives embedded three times as many rounds as patroni
  --side-by-side    run each set-up in a process of its own
  --only REGEXP     only faults with such a name
  --report FILE     write what was seen as JSON
  --help            show this

Exits with 1 if something did not hold, and with 2 if an option is wrong.
`;

export interface SoakCommand {
  rounds: number;
  minutes: number;
  seed: number;
  setups: readonly { name: Setup; weight: number }[];
  sideBySide: boolean;
  /** Names of faults; all if it is empty. */
  only: string;
  report: string | undefined;
}

/** What the command line asks for. Ends the process for `--help` or a wrong option. */
export function readOptions(): SoakCommand {
  try {
    const { values } = parseArgs({
      options: {
        rounds: { type: "string", default: "1000" },
        minutes: { type: "string", default: "1000000" },
        seed: { type: "string", default: String(randomInt(2 ** 32)) },
        setup: { type: "string", default: SETUPS.join(",") },
        "side-by-side": { type: "boolean", default: false },
        only: { type: "string", default: "" },
        report: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    return {
      rounds: wholeNumber("rounds", values.rounds, 1),
      minutes: wholeNumber("minutes", values.minutes, 1),
      seed: wholeNumber("seed", values.seed, 0),
      setups: values.setup.split(",").map(weighted),
      sideBySide: values["side-by-side"],
      only: new RegExp(values.only, "i").source,
      report: values.report,
    };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nnpm run soak -- --help shows the options.\n`);
    process.exit(2);
  }
}

function wholeNumber(name: string, value: string, least: number): number {
  const number = Number(value);
  if (!/^\d{1,15}$/.test(value) || number < least)
    throw new Error(`--${name}: ${value} is not a whole number of ${least} or more`);
  return number;
}

function weighted(each: string): { name: Setup; weight: number } {
  const [name = "", weight = "1"] = each.split(":");
  const setup = SETUPS.find((known) => known === name);
  if (setup === undefined) throw new Error(`--setup: ${each}: the set-ups are ${SETUPS.join(", ")}`);
  if (!/^[1-9]\d{0,3}$/.test(weight)) throw new Error(`--setup: ${each}: the number is 1 to 9999`);
  return { name: setup, weight: Number(weight) };
}
