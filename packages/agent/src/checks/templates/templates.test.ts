import { expect, test } from "vitest";
import { ENGINE_SETTINGS } from "../../config/engines/engine-settings.ts";
import { parseChecks } from "../../config/parse-checks.ts";
import { CHECK_TEMPLATES, prefixAmong, templateChecks } from "./templates.ts";

test.each(CHECK_TEMPLATES)("the checks of the template $name are such as config.yaml takes", (template) => {
  for (const prefix of ["", "x1_"]) {
    const checks = templateChecks(template, prefix);
    expect(checks.length).toBeGreaterThan(2);
    expect(parseChecks(checks, "checks", "/").issues).toEqual([]);
    expect(JSON.stringify(checks)).not.toContain("{p}");
  }
  for (const engine of template.engines) expect(Object.keys(ENGINE_SETTINGS)).toContain(engine);
});

const [wordpress, , gitlab] = CHECK_TEMPLATES;

test.each([
  [["`shop`.`wp_posts`", "`shop`.`wp_options`", "`shop`.`wp_usermeta`"], "wp_"],
  [["`shop`.`a_b_posts`", "`shop`.`a_b_options`", "`shop`.`a_b_usermeta`", "`shop`.`options`"], "a_b_"],
  [["options", "posts", "usermeta"], ""],
  [["wp_posts", "wp_options"], null],
  [["wp_posts", "x_options", "wp_usermeta"], null],
  [["wp'; drop table x; --options", "wp'; drop table x; --posts", "wp'; drop table x; --usermeta"], null],
  [[], null],
])("WordPress's tables are recognised, with their prefix: %j", (names, prefix) => {
  expect(wordpress && prefixAmong(wordpress, names)).toBe(prefix);
});

test("names with a schema are recognised", () => {
  const names = ["public.projects", "public.namespaces", "public.application_settings"];
  expect(gitlab && prefixAmong(gitlab, names)).toBe("");
});
