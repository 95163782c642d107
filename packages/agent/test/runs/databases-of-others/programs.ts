/** Programs that others wrote, as Debian ships them. They are run where they were unpacked. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** The directory with the unpacked packages. */
export function unpackedPrograms(): string {
  return execFileSync(join(import.meta.dirname, "../../../../../tools/install-schemas"), {
    encoding: "utf8",
  }).trim();
}

const PHP_MODULES =
  "mysqlnd ctype dom fileinfo iconv intl mbstring mysqli pgsql tokenizer xml xmlreader simplexml";

/** Runs a script of PHP, with what Debian's PHP can do. Its temporary files go to `directory`. */
export function runPhp(programs: string, directory: string, script: readonly string[]): void {
  execFileSync(
    join(programs, "usr/bin/php8.2"),
    [
      "-n",
      `-dextension_dir=${join(programs, "usr/lib/php/20220829")}`,
      "-dmemory_limit=512M",
      ...PHP_MODULES.split(" ").map((each) => `-dextension=${each}`),
      ...script,
    ],
    { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, TMPDIR: directory } },
  );
}

/** Runs a script of Python, with what Debian's packages for it have. */
export function runPython(programs: string, script: readonly string[]): void {
  execFileSync("python3", script, {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      PYTHONPATH: join(programs, "usr/lib/python3/dist-packages"),
      PYTHONDONTWRITEBYTECODE: "1",
    },
  });
}
