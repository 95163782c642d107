import { expect, test } from "vitest";
import { isKeptByRoot } from "./environment.ts";

const file = (uid: number, mode = 0o100640) => ({ uid, mode });
const directory = (uid: number, mode: number) => ({ uid, mode: 0o040000 | mode });

test.each([
  ["the package's directory and file", directory(0, 0o1770), file(0), true],
  ["root's own directory without the file, as a checkout's agent makes it", directory(0, 0o700), null, true],
  ["root's own directory with root's file", directory(0, 0o700), file(0), true],
  ["the package's directory without the file", directory(0, 0o1770), null, false],
  ["the package's directory with the agent's file", directory(0, 0o1770), file(998), false],
  ["a file that the agent's group may write", directory(0, 0o1770), file(0, 0o100660), false],
  ["a directory that others write, and that is not sticky", directory(0, 0o770), file(0), false],
  ["root's own directory with somebody else's file", directory(0, 0o700), file(998), false],
  ["the agent's directory", directory(998, 0o700), file(0), false],
])("whether only root can change env: %s", (_, of, what, kept) => {
  expect(isKeptByRoot(of, what)).toBe(kept);
});
