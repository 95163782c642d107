import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** Debian's golang-1.19-go and golang-golang-x-mod-dev: no network, no modules. */
const GO = "/usr/lib/go-1.19/bin/go";

/**
 * Compiles one Go file or directory into `directory`, its caches there too; gives the program's
 * path.
 */
export function buildGo(directory: string, source: string): string {
  const program = join(directory, "program");
  const { error, status, stderr } = spawnSync(GO, ["build", "-o", program, source], {
    encoding: "utf8",
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: directory,
      GOCACHE: join(directory, "go-cache"),
      GOPATH: "/usr/share/gocode",
      GO111MODULE: "off",
      CGO_ENABLED: "0",
    },
  });
  if (error)
    throw new Error(
      `${GO} cannot be run (Debian packages golang-1.19-go, golang-golang-x-mod-dev): ${error.message}`,
    );
  if (status !== 0) throw new Error(`go build ${source}: ${stderr}`);
  return program;
}
