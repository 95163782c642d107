import { expect, test } from "vitest";
import { type DatabaseLocale, localeOptions } from "./database-locale.ts";

const libc = { provider: "libc", locale: null, icu_rules: null } as const;

test("a statement that a person has to run names a usual locale as it is", () => {
  const german: DatabaseLocale = { ...libc, collate: "de_DE.UTF-8", ctype: "C" };
  expect(localeOptions(german, 14)).toBe("lc_collate 'de_DE.UTF-8' lc_ctype 'C'");
  const icu: DatabaseLocale = {
    ...german,
    provider: "icu",
    locale: "de-u-ks-level2",
    icu_rules: "&a < b",
  };
  expect(localeOptions(icu, 16)).toBe(
    "lc_collate 'de_DE.UTF-8' lc_ctype 'C' locale_provider icu icu_locale 'de-u-ks-level2' " +
      "icu_rules U&'!+000026!+000061!+000020!+00003c!+000020!+000062' uescape '!'",
  );
});

test.each(["it's", "back\\slash", ":name", "", "a b", "ü", "a\nb", "!"])(
  "what could mean something in SQL or to psql is escaped: %j",
  (name) => {
    const options = localeOptions({ ...libc, collate: name, ctype: "C" }, 14);
    expect(options).toMatch(/^lc_collate U&'(![+][0-9a-f]{6})*' uescape '!' lc_ctype 'C'$/);
  },
);
