import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../tests/e2e/harness/wait.ts";
import { bootThrowawaySystem, type ThrowawaySystem } from "./throwaway-system.ts";
import { releaseHere } from "./release-here.ts";

/**
 * What a hostile dump reaches on a host with the packaged agent: seen without the sandbox's unit,
 * and with it.
 */

const release = await releaseHere();
const PACKAGE = `attestore_${release.version}_amd64.deb`;
const STATE = "/var/lib/attestore";

let system: ThrowawaySystem;
const inside = (path: string): string => join(system.root, path);
const mustShell = (script: string): string => system.must("sh", "-ec", script);

/**
 * A database without anything hostile in it: its dump is loaded by a role that could start nothing.
 */
const DATABASE = "create table victims (n integer); insert into victims values (1);\n";

/**
 * What an attacker runs who got around that, as the user and in the place of a restore's programs:
 * a check's command. It prints how much of each it could do.
 */
const ATTACK = `#!/bin/sh
case $1 in
  ran) n=1 ;;
  other-user) [ "$(id -un)" = attestore ] && n=1 || n=0 ;;
  no-key) cat ${STATE}/keys/age.key /var/lib/attestore-signer/age.key 2>/dev/null | grep -q 'AGE-SECRET-KEY' && n=1 || n=0 ;;
  no-signer) python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("/run/attestore/signer.sock"); print("connected")' 2>&1 | grep -qx connected && n=1 || n=0 ;;
  no-network) python3 -c 'import socket; print(socket.create_connection(("127.0.0.1", 54331), 5).recv(9).decode())' 2>&1 | grep -q reached && n=1 || n=0 ;;
  no-bus) [ -e /run/dbus/system_bus_socket ] && n=1 || n=0 ;;
  few-processes)
    all=$( (i=0; while [ $i -lt 700 ]; do sleep 61 >/dev/null 2>&1 & i=$((i + 1)); done; echo all) 2>/dev/null)
    [ "$all" = all ] && n=1 || n=0
    printf '{"n":%s}\\n' "$n"
    exec pkill -KILL -x sleep ;;
  leaves)
    touch /var/tmp/left /tmp/left /dev/shm/left 2>/dev/null
    setsid setsid sleep 4242 >/dev/null 2>&1 </dev/null &
    n=1 ;;
esac
printf '{"n":%s}\\n' "$n"
`;

const CONFIG = `
sources:
  hostile:
    engine: dumps
    path: /srv/dumps
    pattern: "*.dump"
    checks:
      - { id: ran, command: [/usr/local/bin/attack, ran], expect: "n = 1" }
      - { id: other-user, command: [/usr/local/bin/attack, other-user], expect: "n = 0" }
      - { id: no-key, command: [/usr/local/bin/attack, no-key], expect: "n = 0" }
      - { id: no-signer, command: [/usr/local/bin/attack, no-signer], expect: "n = 0" }
      - { id: no-network, command: [/usr/local/bin/attack, no-network], expect: "n = 0" }
      - { id: few-processes, command: [/usr/local/bin/attack, few-processes], expect: "n = 0" }
      - { id: no-bus, command: [/usr/local/bin/attack, no-bus], expect: "n = 0" }
      - { id: leaves, command: [/usr/local/bin/attack, leaves], expect: "n = 1" }
  archive:
    engine: restic
    repository: /srv/restic
    password: file:/srv/restic.pw
    checks:
      - { id: there, query: srv/tree/numbers, expect: "bytes = 3893" }
`;

interface Tested {
  readonly result: string;
  readonly checks: readonly { readonly id: string; readonly result: string }[];
}

/** The newest receipt of a test that the agent's own unit, with all of its settings, made. */
function restoreTest(source = "hostile"): { output: string; failed: string[]; isolation: unknown } {
  // As the unit runs it: a shell of root's could make namespaces.
  const run = system.run([
    "systemd-run",
    "--wait",
    "--pipe",
    "--quiet",
    ..."User=attestore PrivateTmp=yes RestrictNamespaces=yes NoNewPrivileges=yes MemoryDenyWriteExecute=yes CapabilityBoundingSet="
      .split(" ")
      .flatMap((each) => ["-p", each]),
    "-E",
    `ATTESTORE_HOME=${STATE}`,
    "/usr/bin/attestore",
    "restore-test",
    "--source",
    source,
    "--json",
  ]);
  const output = run.stdout + run.stderr;
  const newest = mustShell(`ls ${STATE}/receipts/*-restore-test.json | tail -1`).trim();
  const record = mustShell(`cat ${newest}`);
  const payload = /"payload":\s*"([^"]+)"/.exec(record)?.[1] ?? "";
  const { predicate } = JSON.parse(Buffer.from(payload, "base64").toString()) as {
    predicate: Tested & { runtime: { isolation?: string } };
  };
  return {
    output,
    failed: predicate.checks.filter(({ result }) => result === "failed").map(({ id }) => id),
    isolation: predicate.runtime.isolation,
  };
}

const left = (): string =>
  mustShell("ls /var/tmp/left /dev/shm/left 2>/dev/null || true; pgrep -f '^sleep 4242' || true").trim();

beforeAll(async () => {
  system = await bootThrowawaySystem();
  copyFileSync(join(release.out, PACKAGE), inside(`/root/${PACKAGE}`));
  mustShell(`
    dpkg -i /root/${PACKAGE} >/dev/null
    runuser -u attestore -- env ATTESTORE_HOME=${STATE} attestore init --standalone --name host >/dev/null
    mkdir -p /srv/dumps
  `);
  writeFileSync(inside("/srv/hostile.sql"), DATABASE);
  writeFileSync(inside("/usr/local/bin/attack"), ATTACK, { mode: 0o755 });
  mustShell(`
    # The network is the machine's: no port that a connection of another test may have.
    pg_createcluster 15 hostile_test --port 15328 --start >/dev/null
    cd /
    export PGPORT=15328
    runuser -u postgres -- createdb hostile
    runuser -u postgres -- psql -qXv ON_ERROR_STOP=1 -d hostile </srv/hostile.sql
    runuser -u postgres -- pg_dump -Fc hostile >/srv/dumps/shop.dump
    pg_dropcluster --stop 15 hostile_test
    touch -d '1 hour ago' /srv/dumps/shop.dump
  `);
  mustShell(`
    mkdir -p /srv/tree
    seq 1 1000 >/srv/tree/numbers
    echo hush-hush >/srv/restic.pw
    restic --quiet --no-cache --repo /srv/restic --password-file /srv/restic.pw init
    restic --quiet --no-cache --repo /srv/restic --password-file /srv/restic.pw backup /srv/tree
    chown -R attestore /srv/restic /srv/restic.pw
  `);
  mustShell(`cat >>${STATE}/config.yaml <<'CONFIG'${CONFIG}CONFIG`);
  // Something to reach.
  mustShell(
    `systemd-run --quiet --unit listener python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 54331))
while True:
    c, _ = s.accept()
    c.send(b"reached\\n")
    c.close()'`,
  );
  system.must("attestore", "backup", "--source", "hostile");
});
afterAll(() => system.stop());

describe("an attacker who starts programs where a restore runs", () => {
  it("can have backups opened, use the network and leave files without the sandbox, but never finds the identity", () => {
    system.must("systemctl", "stop", "attestore-sandbox.socket");
    const { failed, isolation, output } = restoreTest();
    expect([failed, isolation], output).toEqual([
      ["other-user", "no-signer", "no-network", "no-bus"],
      "none",
    ]);
    expect(left()).not.toBe("");
    mustShell("pkill -KILL -x sleep || true; rm -f /var/tmp/left /dev/shm/left");
  });

  it("can do none of that in the sandbox's unit, and leaves nothing behind", async () => {
    system.must("systemctl", "start", "attestore-sandbox.socket");
    const { failed, isolation, output } = restoreTest();
    const journal = mustShell("journalctl --no-pager -u 'attestore-sandbox@*' | tail -20");
    expect([failed, isolation], output + journal).toEqual([[], "unit"]);
    await until("the unit has ended", () => left() === "", 30);
    const files = (): string => mustShell("find /var/cache/attestore-sandbox -mindepth 2");
    await until("what it restored is gone", () => files() === "", 30);
  });

  it("finds restic in the unit too, although the agent reads the repository outside of it", () => {
    system.must("attestore", "backup", "--source", "archive");
    const { failed, isolation, output } = restoreTest("archive");
    const journal = mustShell("journalctl --no-pager -u 'attestore-sandbox@*' | tail -20");
    expect([failed, isolation], output + journal).toEqual([[], "unit"]);
    expect(output).toContain('"passed"');
  });

  it("gets no weaker isolation when the unit exists but does not answer", () => {
    mustShell(`
      mkdir -p /etc/systemd/system/attestore-sandbox@.service.d
      printf '[Service]\\nExecStart=\\nExecStart=/bin/false\\n' >/etc/systemd/system/attestore-sandbox@.service.d/broken.conf
      systemctl daemon-reload
    `);
    expect(restoreTest().output).toContain("sandbox");
    mustShell("rm -r /etc/systemd/system/attestore-sandbox@.service.d; systemctl daemon-reload");
  });
});

describe("the sandbox's units", () => {
  it("are understood completely by systemd, and only the agent's user may connect to them", () => {
    const verify = ["systemd-analyze", "verify", "--recursive-errors=yes"];
    for (const unit of ["attestore-sandbox.socket", "attestore-sandbox@.service"]) {
      const { code, stdout, stderr } = system.run([...verify, `/lib/systemd/system/${unit}`]);
      expect([code, stdout + stderr]).toEqual([0, ""]);
    }
    expect(mustShell("stat -c '%U %a' /run/attestore/sandbox.sock").trim()).toBe("attestore 600");
  });

  it("are rated by systemd as little exposed", () => {
    mustShell("systemd-analyze security --offline=true --threshold=30 attestore-sandbox@.service");
  });
});
