import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const MODULE = JSON.stringify(new URL("end-process.ts", import.meta.url).href);

/** What a process says that does this and then ends, if it can. */
function said(code: string): { status: number | null; stdout: string } {
  const log = "{ warn: (fields, message) => console.log(message, fields.open.join()) }";
  const whole = `import { endProcessSoon } from ${MODULE}; ${code}; endProcessSoon(${log}, 200);`;
  const { status, stdout } = spawnSync(
    process.execPath,
    ["--no-warnings", "--input-type=module", "--eval", whole],
    { encoding: "utf8", timeout: 30_000 },
  );
  return { status, stdout };
}

test("a process in which something stays open ends all the same, and says what it is", () => {
  const code = 'import { createServer } from "node:net"; createServer().listen(0); process.exitCode = 3';
  expect(said(code)).toEqual({
    status: 3,
    stdout: expect.stringMatching(/^something stays open; the process ends all the same .*TCPServerWrap/),
  });
});

test("a process in which nothing is open ends at once, and says nothing", () => {
  expect(said("process.exitCode = 3")).toEqual({ status: 3, stdout: "" });
});
