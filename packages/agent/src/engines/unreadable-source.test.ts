import { userInfo } from "node:os";
import { expect, it } from "vitest";
import { unreadableSource } from "./unreadable-source.ts";

it.each([
  [
    "EACCES",
    `cannot be read (EACCES): let the agent's user ${userInfo().username} read it, and enter the directories above`,
  ],
  ["EIO", "cannot be read (EIO): look at its file system"],
  ["ENOENT", "does not exist: check the source's path"],
])("a source that cannot be read says what to do: %s", (code, why) => {
  const error = unreadableSource(
    "the SQLite database /srv/shop.db",
    Object.assign(new Error(code), { code }),
  );
  expect(error).toMatchObject({ code: "source_missing" });
  expect(error.message).toContain(`the SQLite database /srv/shop.db ${why}`);
});
