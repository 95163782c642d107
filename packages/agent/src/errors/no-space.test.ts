import { expect, test } from "vitest";
import { noSpace } from "./no-space.ts";

const failed = (code: string, path?: string): Error => Object.assign(new Error("x"), { code, path });

test("a full disk, a used quota and a limit on files name the file and the next step", () => {
  expect(noSpace(failed("ENOSPC", "/a/b"))).toMatch(/no space left .* \/a\/b: make room/);
  expect(noSpace(failed("EDQUOT", "/a/b"))).toMatch(/quota .* \/a\/b: make room/);
  expect(noSpace(failed("EFBIG", "/a/b"))).toMatch(/^\/a\/b .* limit .*: raise it/);
  expect(noSpace(failed("ENOSPC"))).toMatch(/write a file: make room/);
});

test("any other error is not about space", () => {
  for (const error of [failed("EACCES", "/a/b"), new Error("ENOSPC"), null, "ENOSPC"])
    expect(noSpace(error)).toBeNull();
});
