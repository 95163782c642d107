import { expect, test } from "vitest";
import { withoutJoinParentheses } from "./view-joins.ts";

/** As MariaDB prints a view that somebody wrote, and the same view made of its own text. */
test.each([
  ["select `a` from `t` join `u` where `t`.`a` = 1", "select `a` from (`t` join `u`) where `t`.`a` = 1"],
  ["select 1 from `t` join `u` join `v`", "select 1 from ((`t` join `u`) join `v`)"],
  [
    "select 1 from `t` join `u` on(`t`.`a` = (`u`.`a` + 1)) join `v`",
    "select 1 from ((`t` join `u` on(`t`.`a` = (`u`.`a` + 1))) join `v`)",
  ],
  [
    "select (select max(`b`) from `u` join `w`) from `t` join JSON_TABLE(`t`.`j`, '$[*] join ) (' COLUMNS (`v` int(11) PATH '$')) `x`",
    "select (select max(`b`) from (`u` join `w`)) from (`t` join JSON_TABLE(`t`.`j`, '$[*] join ) (' COLUMNS (`v` int(11) PATH '$')) `x`)",
  ],
])("joins with a comma are the same with parentheses: %s", (written, again) => {
  expect(withoutJoinParentheses(again)).toBe(written);
  expect(withoutJoinParentheses(written)).toBe(written);
});

test("all other parentheses stay", () => {
  for (const text of [
    "select ((`a` or `b`) and `c`) from `t`",
    "(select 1 from `t` join `u`) union (select 2 from `v` join `w`)",
    "select `a` from `t` where `a` in (select `b` from `u` join `w`) and ' ( join ' = '\\'( join '",
    "with recursive r as (select 1 from `t` join `u`) select `a` from `r`",
    "select ` ( join )`.`a` from `t` )",
  ])
    expect(withoutJoinParentheses(text)).toBe(text);
});
