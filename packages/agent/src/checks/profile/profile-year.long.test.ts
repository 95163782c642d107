import { expect, test } from "vitest";
import { alarmsOf, APPLICATIONS, encryptSome, VICTIMS } from "../../../test/simulated-years.ts";

/** One of the years that `node tools/simulate-years/main.ts` simulates. */
const SEED = 7;

test.each(Object.keys(APPLICATIONS))("%s: at most one false alarm a year", (source) => {
  const alarms = alarmsOf(source, { seed: SEED });
  expect(alarms.length, JSON.stringify(alarms)).toBeLessThanOrEqual(1);
});

test.each(VICTIMS.map((victim, at) => [...victim, 30 + at * 60] as const))(
  "%s, %s, %s: a hundredth of the rows encrypted on day %d stands out on that day, and until somebody accepts it",
  (source, table, column, on) => {
    const damage = encryptSome(table, column, 0.01, on);
    const alarms = alarmsOf(source, { seed: SEED, damage, until: on + 4 });
    const own = alarms.filter((each) => each.table === table && each.column === column);
    expect(own.filter(({ day }) => day >= on).map(({ day, measure }) => [day, measure])).toEqual(
      Array.from({ length: 5 }, (_, after) => [on + after, "random"]),
    );
  },
);

test("if keys are ordinary, encrypting all rows is suspicious", () => {
  const damage = encryptSome("events", "payload", 1, 200);
  const alarms = alarmsOf("software for tenants", { seed: SEED, damage, until: 201 });
  expect(alarms.some(({ table, day }) => table === "events" && day === 200)).toBe(true);
});
