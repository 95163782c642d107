import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOrganisation, type Organisation } from "../../tests/e2e/harness/organisation.ts";
import type { Finished } from "../../tests/e2e/harness/programs.ts";
import { startServer, type Server } from "../../tests/e2e/harness/server.ts";
import { until } from "../../tests/e2e/harness/wait.ts";
import { makeFormerPackage } from "./former-package.ts";
import { bootThrowawaySystem, type ThrowawaySystem } from "./throwaway-system.ts";
import { releaseHere } from "./release-here.ts";

/**
 * A host's life with the packaged agent under systemd: installed by the service's one-liner, used,
 * upgraded, removed.
 */

const release = await releaseHere();
const PACKAGE = `attestore_${release.version}_amd64.deb`;
const STATE = "/var/lib/attestore";
const HELD = "/var/lib/attestore-signer";
/** As on a host that never had the package. */
const CLEAR = `apt-get purge -y -qq attestore </dev/null; rm -r ${STATE} ${HELD}`;
/** As earlier versions had it. */
const READS_ITS_KEY_ITSELF = `
  install -o attestore -g attestore -m 0600 ${HELD}/agent.key ${STATE}/keys/agent.key
  rm -r ${STATE}/keys/agent.signer ${HELD}
  systemctl stop attestore-signer.service
`;

let server: Server;
let org: Organisation;
let system: ThrowawaySystem;
let oneLiner: string;
let scratch: string;

const inside = (path: string): string => join(system.root, path);
const shell = (script: string, env: Record<string, string> = {}): Finished =>
  system.run(["sh", "-ec", script], env);
const mustShell = (script: string): string => system.must("sh", "-ec", script);
/** As somebody types it who is root. */
const agent = (...args: string[]): Finished => system.run(["attestore", ...args]);
const property = (name: string): string =>
  system.must("systemctl", "show", "--value", "--property", name, "attestore.service").trim();
const isActive = (): boolean => property("ActiveState") === "active";
/** Every file of the root that is not made anew as it runs, with owner, mode and content. */
const identity = (directory = STATE): string =>
  mustShell(
    `cd ${directory} && for f in config.yaml keys/*; do stat -c '%n %U %G %a' $f; sha256sum <$f; done`,
  );

function succeeded(finished: Finished): Finished {
  expect(finished.code, finished.stdout + finished.stderr).toBe(0);
  return finished;
}

/**
 * Has the service order it, as soon as it knows the source, and waits until the agent has done it.
 */
async function serviceDid(source: string, kind: "backup" | "restore_test"): Promise<void> {
  const args = ["command", "queue", "--org", org.id, "--source", source, "--kind", kind, "--json"];
  const queued = await until("the service takes the command", async () => {
    const { code, stdout } = await server.cli(...args);
    return code === 0 && (JSON.parse(stdout) as { command_id: string });
  });
  await until(
    `the service's command is done: ${kind} of ${source}`,
    () => existsSync(inside(`${STATE}/commands/done/${queued.command_id}.json`)),
    60,
  );
}

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "attestore-installed-"));
  server = await startServer({ ATTESTORE_HEARTBEAT_INTERVAL_S: "1", ATTESTORE_DOWNLOADS: release.out });
  org = await createOrganisation(server);
  const key = await server.cliJson<{ install_command: string }>("auth-key", "create", "--org", org.id);
  oneLiner = key.install_command;
  system = await bootThrowawaySystem();
});
afterAll(async () => {
  await system.stop();
  await server.remove();
  rmSync(scratch, { recursive: true, force: true });
});

describe("a fresh host", () => {
  it("is installed and attached by one command, and its agent runs", async () => {
    const { stderr } = succeeded(shell(oneLiner, { ATTESTORE_AUTH_KEY: org.authKey }));
    expect(stderr).toContain(`installing attestore ${release.version}`);
    expect(isActive(), mustShell("journalctl -u attestore --no-pager | tail -30")).toBe(true);
    expect(mustShell(`stat -c '%U %G %a' ${STATE}`).trim()).toBe("root attestore 1770");
    expect(mustShell(`stat -c '%U %G %a' ${STATE}/env`).trim()).toBe("root attestore 640");
    await until("a heartbeat", () => existsSync(inside(`${STATE}/log/heartbeat.json`)));
  });

  it("runs the agent without any right that it does not need", () => {
    const status = readFileSync(inside(`/proc/${property("MainPID")}/status`), "utf8");
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    expect(status).toMatch(/^CapBnd:\s+0+$/m);
    expect(status).toMatch(new RegExp(`^Uid:\\s+${mustShell("id -u attestore").trim()}\\s`, "m"));
  });

  it("has a unit that systemd understands completely and rates as little exposed", () => {
    const verify = [
      "systemd-analyze",
      "verify",
      "--recursive-errors=yes",
      "/lib/systemd/system/attestore.service",
    ];
    const { code, stdout, stderr } = system.run(verify);
    expect([code, stdout + stderr]).toEqual([0, ""]);
    mustShell("systemd-analyze security --offline=true --threshold=20 attestore.service");
  });

  it.each([
    ["PrivateTmp", "yes"],
    ["ProtectKernelTunables", "yes"],
    ["ProtectKernelModules", "yes"],
    ["ProtectControlGroups", "yes"],
    ["RestrictNamespaces", "yes"],
    ["LockPersonality", "yes"],
    ["MemoryDenyWriteExecute", "yes"],
    ["RestrictAddressFamilies", "AF_INET AF_INET6 AF_UNIX"],
    ["CapabilityBoundingSet", ""],
    ["AmbientCapabilities", ""],
  ])("has the unit setting from the specification: %s", (name, value) => {
    if (name !== "RestrictNamespaces") expect(property(name).split(" ").toSorted().join(" ")).toBe(value);
    // What systemd shows of it differs between versions: yes, or the empty list of allowed ones.
    else
      expect(readFileSync(inside("/lib/systemd/system/attestore.service"), "utf8")).toContain(
        `${name}=yes\n`,
      );
  });

  it("backs up and proves the sources that the service asks for, of PostgreSQL and of SQLite", async () => {
    mustShell(`
      # The network is the machine's: no port that a connection of another test may have.
      pg_createcluster 15 shop_test --port 15329 --start >/dev/null
      export PGPORT=15329
      cd /
      runuser -u postgres -- createuser attestore
      runuser -u postgres -- createdb -O attestore shop
      runuser -u attestore -- psql -qd shop -c "create table orders as select n as id from generate_series(1, 2000) n"
      mkdir /srv/invoices
      python3 -c "import sqlite3; c = sqlite3.connect('/srv/invoices/invoices.db'); c.executescript('create table invoices (n); insert into invoices values (1), (2), (3)')"
    `);
    appendFileSync(
      inside(`${STATE}/config.yaml`),
      `sources:
  shop:
    engine: postgresql
    connection: env:SHOP_URL
    checks:
      - { id: has-orders, query: "select count(*) as n from orders", expect: "n >= 1000" }
  invoices:
    engine: sqlite
    path: /srv/invoices/invoices.db
    checks:
      - { id: has-invoices, query: "select count(*) as n from invoices", expect: "n = 3" }
`,
    );
    mustShell(`
      echo 'SHOP_URL=postgresql:///shop?host=/var/run/postgresql&port=15329' >${STATE}/env
      systemctl restart attestore
    `);
    for (const source of ["shop", "invoices"]) {
      await serviceDid(source, "backup");
      await serviceDid(source, "restore_test");
    }
    const journal = mustShell("journalctl -u attestore --no-pager | tail -30");
    const { stdout } = agent("status");
    expect(stdout, journal).toContain("2 of 2 sources proven");
    // Nothing that was restored is left, in the root or in the unit's own /tmp.
    expect(mustShell(`ls -A ${STATE}/scratch; find /tmp /var/tmp -name 'attestore-*' -not -type d`)).toBe("");
  });

  it("runs root's commands as the agent's user, with the unit's environment", () => {
    const before = property("MainPID");
    const { stdout } = succeeded(agent("backup", "--source", "shop", "--json"));
    expect(JSON.parse(stdout)).toMatchObject({ source: "shop" });
    expect(mustShell(`find ${STATE} ! -user attestore`)).toBe(`${STATE}\n${STATE}/env\n`);
    expect(property("MainPID")).toBe(before);
  });

  it("does not let the agent's user write the files that systemd reads as root for the unit", () => {
    const asAgent = (script: string): Finished =>
      system.run(["runuser", "-u", "attestore", "--", "sh", "-c", `cd ${STATE}; ${script}`]);
    mustShell("umask 077; echo OTHER_SECRET=of-another-service >/etc/other.env");
    // What would name a file that root alone may read, or libraries to load before the next agent.
    for (const attack of [
      "mv env env.before; ln -s /etc/other.env env",
      "rm -f env; ln -s /etc/other.env env",
      "ln -s /etc/other.env env.new; mv -T env.new env",
      "echo LD_PRELOAD=/tmp/evil.so >>env",
    ])
      asAgent(attack);
    mustShell("systemctl restart attestore");
    const environ = asAgent(`tr '\\0' '\\n' </proc/${property("MainPID")}/environ`).stdout;
    expect(environ).toContain("SHOP_URL=");
    expect(environ).not.toMatch(/OTHER_SECRET|LD_PRELOAD/);
    mustShell(`rm -f /etc/other.env; find ${STATE} -maxdepth 1 -name 'env?*' -delete`);
    // Files that are the agent's own it replaces as before.
    expect(asAgent("cp config.yaml .config.new && mv .config.new config.yaml").code).toBe(0);
  });

  it("is told by doctor of an env file that the agent's user can write, which installing the package repairs", () => {
    const environment = (): unknown =>
      (
        JSON.parse(agent("doctor", "--json").stdout) as { findings: { title: string; result: string }[] }
      ).findings.find(({ title }) => title === "env")?.result;
    expect(environment()).toBe("good");
    const before = mustShell(`cat ${STATE}/env`);
    mustShell(`chown attestore:attestore ${STATE} ${STATE}/env; chmod 0700 ${STATE}`);
    expect(environment()).toBe("warn");
    // The agent that runs meanwhile never finds its root closed: it would end.
    mustShell(`
      mkdir /root/watched; touch /root/closed
      for name in chown chmod chgrp; do
        printf '#!/bin/sh\\n/usr/bin/%s "$@"; runuser -u attestore -- ls ${STATE}/commands >/dev/null || echo "$0 $*" >>/root/closed\\n' $name >/root/watched/$name
      done
      chmod +x /root/watched/*
      PATH=/root/watched:$PATH /usr/lib/attestore/migrate
    `);
    expect(mustShell("cat /root/closed")).toBe("");
    expect(environment()).toBe("good");
    expect(mustShell(`cat ${STATE}/env`)).toBe(before);
    // A link of the agent's is read with the agent's rights, never with root's.
    mustShell(`
      cp ${STATE}/env /root/env.kept
      rm ${STATE}/env
      runuser -u attestore -- ln -s /etc/shadow ${STATE}/env
      /usr/lib/attestore/migrate
    `);
    expect(mustShell(`stat -c '%F %U %G %a' ${STATE}/env /etc/shadow`)).toBe(
      "regular empty file root attestore 640\nregular file root shadow 640\n",
    );
    mustShell(`cat /root/env.kept >${STATE}/env`);
  });

  it("is left unchanged by a second run of the same command", () => {
    expect(isActive(), mustShell("journalctl -u attestore --no-pager | tail -30")).toBe(true);
    const [pid, before] = [property("MainPID"), identity()];
    const { stderr } = succeeded(shell(oneLiner));
    expect(stderr).toContain("is already attached");
    expect(property("MainPID")).toBe(pid);
    expect(identity()).toBe(before);
  });
});

describe("an upgrade", () => {
  beforeAll(() => copyFileSync(join(release.out, PACKAGE), inside(`/root/${PACKAGE}`)));
  const upgrade = (): Finished => system.run(["dpkg", "-i", `/root/${PACKAGE}`]);

  it("moves the key that a running agent read itself, and the agent continues with it", () => {
    const before = mustShell(`sha256sum <${HELD}/agent.key`);
    mustShell(`systemctl stop attestore; ${READS_ITS_KEY_ITSELF} systemctl start attestore`);
    const pid = property("MainPID");
    succeeded(upgrade());
    expect(isActive()).toBe(true);
    expect(property("MainPID")).not.toBe(pid);
    expect(mustShell(`sha256sum <${HELD}/agent.key; ls ${STATE}/keys`)).toMatch(
      new RegExp(`^${before}(?![^]*agent\\.key)`),
    );
    expect(JSON.parse(agent("doctor", "--json").stdout)).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({
          title: "signer",
          result: "good",
          detail: expect.stringContaining("a separate process") as string,
        }),
      ]) as unknown,
    });
  });

  it("restarts a running agent, and keeps everything", () => {
    const [pid, before] = [property("MainPID"), identity()];
    succeeded(upgrade());
    expect(isActive()).toBe(true);
    expect(property("MainPID")).not.toBe(pid);
    expect(identity()).toBe(before);
  });

  it("neither starts a stopped agent nor enables a disabled one", () => {
    mustShell("systemctl disable --now --quiet attestore");
    succeeded(upgrade());
    expect(isActive()).toBe(false);
    expect(property("UnitFileState")).toBe("disabled");
    mustShell("systemctl enable --now --quiet attestore");
  });
});

describe("removal", () => {
  it("stops the agent and keeps its root", () => {
    const before = identity();
    mustShell("apt-get remove -y -qq attestore");
    expect(property("LoadState")).not.toBe("loaded");
    expect(mustShell("readlink /proc/[0-9]*/exe || true")).not.toMatch(/\/bin\/attestore/);
    expect(existsSync(inside("/usr/bin/attestore"))).toBe(false);
    expect(identity()).toBe(before);
    expect(existsSync(inside(`${HELD}/agent.key`))).toBe(true);
    mustShell(`cp -a ${STATE} /root/kept; cp -a ${HELD}/agent.key /root/kept.key`);
  });

  it("can be reversed by installing again", () => {
    const before = identity();
    mustShell(`apt-get install -y -qq /root/${PACKAGE}`);
    expect(isActive()).toBe(true);
    expect(identity()).toBe(before);
  });

  it("keeps keys and root even on purge, says how to delete them, and asks no question", () => {
    const before = identity();
    const said = mustShell("apt-get purge -y -qq attestore </dev/null 2>&1");
    expect(identity()).toBe(before);
    expect(existsSync(inside(`${HELD}/agent.key`))).toBe(true);
    const [command = ""] = /rm -r .*/.exec(said) ?? [];
    expect(command, said).toBe(`rm -r ${STATE} ${HELD}`);
    mustShell(command);
    expect(
      mustShell("find /etc /var/lib/systemd /lib/systemd /usr/lib/attestore -name '*attestore*' || true"),
    ).toBe("");
  });
});

describe("a root that root made before the package was installed", () => {
  const unpacked = "/root/unpacked/usr/bin/attestore";
  const owners = (): string[] => mustShell(`find ${STATE} -printf '%u %P\\n'`).trim().split("\n");

  it("does not hinder the installation, if root's attestore init was interrupted", () => {
    mustShell(`mkdir -m 0700 ${STATE} ${STATE}/keys`);
    succeeded(shell(oneLiner, { ATTESTORE_AUTH_KEY: org.authKey }));
    expect(isActive(), mustShell("journalctl -u attestore --no-pager | tail -30")).toBe(true);
    mustShell(CLEAR);
  });

  it("becomes the agent's, which continues with its keys; env and the root itself stay root's", async () => {
    copyFileSync(server.caFile, inside("/root/ca.pem"));
    mustShell(`dpkg-deb -x /root/${PACKAGE} /root/unpacked`);
    const init = `${unpacked} init --service ${server.url} --ca-file /root/ca.pem --name by-hand`;
    succeeded(shell(init, { ATTESTORE_AUTH_KEY: org.authKey }));
    mustShell(`
      echo 'A=b' >${STATE}/env
      echo of-root >/srv/linked
      ln /srv/linked ${STATE}/linked
      ln -s /srv/linked ${STATE}/link
    `);
    expect(new Set(owners().map((line) => line.split(" ")[0]))).toEqual(new Set(["root"]));
    const config = mustShell(`cat ${STATE}/config.yaml`);

    mustShell(`apt-get install -y -qq /root/${PACKAGE}`);

    expect(isActive(), mustShell("journalctl -u attestore --no-pager | tail -30")).toBe(true);
    expect(owners().filter((line) => line.startsWith("root "))).toEqual(
      expect.arrayContaining(["root ", "root env", "root linked"]),
    );
    expect(owners().filter((line) => line.startsWith("root "))).toHaveLength(3);
    expect(mustShell("stat -c %U /srv/linked").trim()).toBe("root");
    expect(mustShell(`cat ${STATE}/config.yaml`)).toBe(config);
    await until("a heartbeat", () => existsSync(inside(`${STATE}/log/heartbeat.json`)));
    expect(agent("status").stdout).toContain("agent running");
    mustShell(`${CLEAR}; rm -r /root/unpacked`);
  });
});

describe("an installation under the former names", () => {
  it("is taken over by the same command, with its keys, its sources and its running agent", async () => {
    copyFileSync(makeFormerPackage(scratch), inside("/root/former.deb"));
    mustShell(`
      cp -a /root/kept /etc/attestore
      cd /etc/attestore
      rm keys/agent.signer
      install -o attestore -g attestore -m 0600 /root/kept.key keys/agent.key
      mv config.yaml agent.yaml
      mv env agent-env
      dpkg -i /root/former.deb
    `);
    const before = identity("/root/kept");
    expect(mustShell("systemctl is-active attestore-agent").trim()).toBe("active");

    succeeded(shell(oneLiner));

    expect(isActive(), mustShell("journalctl -u attestore --no-pager | tail -30")).toBe(true);
    expect(property("UnitFileState")).toBe("enabled");
    expect(identity()).toBe(before);
    mustShell(`cmp ${HELD}/agent.key /root/kept.key`);
    expect(readFileSync(inside(`${STATE}/env`), "utf8")).toContain("SHOP_URL=");
    expect(existsSync(inside("/etc/attestore"))).toBe(false);
    expect(existsSync(inside("/usr/bin/attestore-agent"))).toBe(false);
    expect(shell("systemctl is-active attestore-agent").code).not.toBe(0);
    const since = statSync(inside(`${STATE}/log/heartbeat.json`)).mtimeMs;
    await until("a new heartbeat", () => statSync(inside(`${STATE}/log/heartbeat.json`)).mtimeMs > since);
    await serviceDid("shop", "restore_test");
    expect(agent("receipts", "--json").stdout + agent("status").stdout).toContain("proven");
  });
});
