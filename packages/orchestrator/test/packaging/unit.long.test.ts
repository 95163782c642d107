import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bootThrowawaySystem, type ThrowawaySystem } from "../../../../packaging/test/throwaway-system.ts";

/**
 * The service as packaging/server/attestore-server.service says to install it, under a systemd that
 * is booted for it.
 */

const PACKAGING = join(import.meta.dirname, "../../../../packaging/server");
const UNIT = "attestore-server.service";

/** A minute on a machine that has nothing else to do. */
const SLOW_MS = 400_000;

let system: ThrowawaySystem;
const shell = (script: string): string => system.must("sh", "-ec", script);
const property = (name: string): string => shell(`systemctl show --value --property ${name} ${UNIT}`).trim();
/** Inside, and seldom: each look from here costs more than what it looks for. */
const waitUntil = (condition: string): void => {
  const { code } = system.run(["timeout", "300", "sh", "-c", `until ${condition}; do sleep 1; done`]);
  if (code !== 0)
    throw new Error(`${condition}\n${shell(`journalctl -u ${UNIT} --no-pager -o cat | tail -30`)}`);
};
const server = (...args: string[]): string =>
  system.must(
    "env",
    "ATTESTORE_DATA=/var/lib/attestore-server",
    "ATTESTORE_CONFIG=/etc/attestore-server/config",
    "/opt/attestore-server/attestore-server",
    ...args,
  );

beforeAll(async () => {
  system = await bootThrowawaySystem();
  const inside = (path: string): string => join(system.root, path);
  execFileSync(join(PACKAGING, "assemble"), ["--with-node", inside("opt/attestore-server")], {
    stdio: "pipe",
  });
  cpSync(join(PACKAGING, UNIT), inside(`etc/systemd/system/${UNIT}`));
  shell("useradd --system --home-dir /var/lib/attestore-server --shell /usr/sbin/nologin attestore-server");
  mkdirSync(inside("etc/attestore-server"));
  cpSync(join(PACKAGING, "config.example"), inside("etc/attestore-server/config"));
  shell("chmod 640 /etc/attestore-server/config; chgrp attestore-server /etc/attestore-server/config");
  // The network is the machine's, where other tests listen too.
  shell("sed -i 's/^ATTESTORE_LISTEN=.*/ATTESTORE_LISTEN=127.0.0.1:18443/' /etc/attestore-server/config");
  shell("systemctl daemon-reload");
}, SLOW_MS);
afterAll(() => system.stop(), SLOW_MS);

test("systemd understands the whole unit, and finds little exposed", () => {
  const { code, stdout, stderr } = system.run([
    "systemd-analyze",
    "verify",
    "--recursive-errors=yes",
    `/etc/systemd/system/${UNIT}`,
  ]);
  expect([code, stdout + stderr]).toEqual([0, ""]);
  shell(`systemd-analyze security --offline=true --threshold=25 ${UNIT}`);
});

test(
  "the service runs under the unit, with its own database, as a user without privileges",
  { timeout: SLOW_MS },
  () => {
    shell(`systemctl enable --now ${UNIT}`);
    waitUntil(`journalctl -u ${UNIT} --no-pager -o cat | grep -q '"listening"'`);
    expect(server("doctor", "--json")).toContain('"ok": true');
    const status = readFileSync(join(system.root, `proc/${property("MainPID")}/status`), "utf8");
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    expect(status).toMatch(/^CapBnd:\s+0+$/m);
    expect(status).toMatch(new RegExp(`^Uid:\\s+${shell("id -u attestore-server").trim()}\\s`, "m"));
    expect(shell("stat -c '%U %a' /var/lib/attestore-server").trim()).toBe("attestore-server 700");
  },
);

test(
  "the service stops in order, leaves no process, and starts again after it was killed",
  { timeout: SLOW_MS },
  () => {
    server("org", "add", "Example");
    const before = property("MainPID");
    shell(`systemctl kill --signal=KILL --kill-who=main ${UNIT}`);
    waitUntil(`pid=$(systemctl show --value -p MainPID ${UNIT}); test $pid != ${before} -a $pid != 0`);
    waitUntil("curl -ks https://127.0.0.1:18443/readyz | grep -q ready");
    expect(server("org", "list")).toContain("Example");
    shell(`systemctl stop ${UNIT}`);
    expect([property("Result"), property("ExecMainStatus")]).toEqual(["success", "0"]);
    expect(system.run(["pgrep", "-u", "attestore-server"]).stdout).toBe("");
  },
);
