import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Finished } from "../../tests/e2e/harness/programs.ts";
import { bootThrowawaySystem, type ThrowawaySystem } from "./throwaway-system.ts";
import { releaseHere } from "./release-here.ts";

/**
 * A host on which the agent once read its key itself, upgraded: the key is another user's, and
 * signs as before.
 */

const release = await releaseHere();
const PACKAGE = `attestore_${release.version}_amd64.deb`;
const STATE = "/var/lib/attestore";
const HELD = "/var/lib/attestore-signer";

let system: ThrowawaySystem;
const inside = (path: string): string => join(system.root, path);
const mustShell = (script: string): string => system.must("sh", "-ec", script);
const asUser = (user: string, script: string): Finished =>
  system.run(["runuser", "-u", user, "--", "sh", "-c", script]);
const toldByDoctor = (title: string): string => {
  const { stdout } = system.run(["attestore", "doctor", "--json"]);
  const { findings } = JSON.parse(stdout) as {
    findings: { title: string; result: string; detail: string }[];
  };
  const { result, detail } = findings.find((each) => each.title === title) ?? {};
  return `${result}: ${detail}`;
};
/** What an installation of an earlier version has. */
const FORMER = `
  systemctl stop attestore-signer.socket attestore-signer.service
  rm -rf ${HELD} ${STATE}/keys
  cp -a /root/former-keys ${STATE}/keys
`;
const backUp = (): string => mustShell("date >>/srv/papers/one.txt; attestore backup --source papers --json");

beforeAll(async () => {
  system = await bootThrowawaySystem();
  copyFileSync(join(release.out, PACKAGE), inside(`/root/${PACKAGE}`));
  mustShell(`
    mkdir -p /srv/papers
    echo one >/srv/papers/one.txt
    dpkg -i /root/${PACKAGE} >/dev/null
    rm ${STATE}/keys/agent.signer
    runuser -u attestore -- env ATTESTORE_HOME=${STATE} attestore init --standalone --name host >/dev/null
    # Of a rotation that the service has not answered.
    runuser -u attestore -- mkdir -m 0700 ${STATE}/keys/retired
    cp -a ${STATE}/keys/agent.key ${STATE}/keys/retired/$(printf '%043d' 0).key
    printf 'sources:\\n  papers: { engine: files, path: /srv/papers }\\n' >>${STATE}/config.yaml
    cp -a ${STATE}/keys /root/former-keys
  `);
});
afterAll(() => system.stop());

describe("an agent that reads its keys itself", () => {
  it("loses them to an attacker who takes over its user, and doctor says what to do about it", () => {
    expect(asUser("attestore", `cat ${STATE}/keys/age.key`).stdout).toContain("AGE-SECRET-KEY-1");
    expect(asUser("attestore", `cat ${STATE}/keys/agent.key`).stdout).toContain("PRIVATE KEY");
    expect(toldByDoctor("signer")).toMatch(/^warn: the agent itself signs/);
    backUp();
  });
});

describe("the upgrade to a signer", () => {
  it("moves the key and never loses it, even when it is killed before any of its commands", () => {
    // Every program that changes something counts its calls, and at the one that is set it kills
    // the script instead.
    mustShell(`
      mkdir /root/shims
      for program in cat head mv rm mkdir chown sync mktemp runuser; do
        printf '#!/bin/sh\\nn=$(($(cat.real /root/shims/count) + 1))\\necho $n >/root/shims/count\\n[ $n -ne "$KILL_AT" ] || { kill -KILL $PPID; exit 1; }\\nexec %s "$@"\\n' "$(command -v $program)" >/root/shims/$program
        chmod +x /root/shims/$program
      done
      cp /bin/cat /root/shims/cat.real
    `);
    const told = mustShell(`
      wanted=$(sha256sum <${STATE}/keys/agent.key)
      identity=$(grep AGE-SECRET-KEY ${STATE}/keys/age.key)
      ${FORMER}
      at=0 killed=1
      while [ $killed -eq 1 ]; do
        at=$((at + 1)) killed=0
        rm -rf ${HELD} ${STATE}/keys
        cp -a /root/former-keys ${STATE}/keys
        echo 0 >/root/shims/count
        KILL_AT=$at PATH=/root/shims:$PATH /usr/lib/attestore/migrate 2>/dev/null || true
        [ $(cat /root/shims/count) -lt $at ] || killed=1
        # Whoever is to sign now has the key: the agent, or the signer as soon as the agent's file names it.
        if [ -e ${STATE}/keys/agent.signer ]; then file=${HELD}/agent.key; else file=${STATE}/keys/agent.key; fi
        [ "$(sha256sum <$file)" = "$wanted" ] || { echo "lost at $at"; exit 1; }
        if grep -q held-by-signer ${STATE}/keys/age.key; then file=${HELD}/age.key; else file=${STATE}/keys/age.key; fi
        grep -qx "$identity" $file || { echo "identity lost at $at"; exit 1; }
        /usr/lib/attestore/migrate
        grep -qx "$identity" ${HELD}/age.key && ! grep -q "$identity" ${STATE}/keys/age.key || { echo "identity lost after $at"; exit 1; }
        [ "$(sha256sum <${HELD}/agent.key)" = "$wanted" ] || { echo "lost after $at"; exit 1; }
        [ ! -e ${STATE}/keys/agent.key ] && [ -s ${STATE}/keys/agent.signer ] || { echo "not moved after $at"; exit 1; }
        [ -z "$(find ${STATE}/keys/retired -name '*.key')" ] && [ -e ${HELD}/retired/$(printf '%043d' 0).key ]
        [ -z "$(find ${HELD} -name '.moving*' -o ! -user attestore-signer)" ]
      done
      echo $at
    `);
    expect(Number(told)).toBeGreaterThan(15);
  });

  it("is made by installing the package", () => {
    mustShell(`${FORMER} dpkg -i /root/${PACKAGE} >/dev/null`);
    expect(mustShell(`stat -c '%U %a' ${HELD} ${HELD}/agent.key`)).toBe(
      "attestore-signer 700\nattestore-signer 600\n",
    );
    expect(mustShell(`cmp ${HELD}/agent.key /root/former-keys/agent.key; ls ${STATE}/keys`)).not.toContain(
      "agent.key",
    );
    backUp();
    expect(mustShell("attestore receipts verify")).toContain("2");
    expect(toldByDoctor("identity")).toBe("good: a separate process decrypts backups, for 1 recipient");
    expect(toldByDoctor("signer")).toBe(
      "good: a separate process holds the signing key, at /run/attestore/signer.sock",
    );
  });

  it("keeps both keys if the signer has a different one, and says so", () => {
    const { stderr } = system.run([
      "sh",
      "-ec",
      `cp -a /root/former-keys/agent.key ${STATE}/keys/agent.key
       echo other >>${STATE}/keys/agent.key
       /usr/lib/attestore/migrate
       cmp ${HELD}/agent.key /root/former-keys/agent.key
       grep -q other ${STATE}/keys/agent.key
       rm ${STATE}/keys/agent.key`,
    ]);
    expect(stderr).toContain("both were kept");
  });
});

describe("the signer", () => {
  it("lets the agent's user have receipts signed and nothing else, and gives other users nothing", () => {
    for (const path of [
      `${HELD}/agent.key`,
      HELD,
      `/proc/$(systemctl show --value -p MainPID attestore-signer)/mem`,
    ])
      expect(asUser("attestore", `cat ${path}`).stderr).toMatch(/Permission denied|No such file/);
    const ask = `python3 -c 'import socket, struct
s = socket.socket(socket.AF_UNIX)
s.connect("/run/attestore/signer.sock")
def ask(kind, payload=b""):
    s = socket.socket(socket.AF_UNIX); s.connect("/run/attestore/signer.sock")
    s.sendall(struct.pack(">BI", kind, len(payload)) + payload)
    answer = b""
    while piece := s.recv(4096): answer += piece
    return answer[0], answer[5:]
key = ask(1)[1]
print(len(key), ask(3, key + b"anything"))'`;
    expect(asUser("attestore", ask).stdout).toBe("32 (1, b'this is nothing that an agent signs')\n");
    for (const user of ["nobody", "attestore-sandbox"])
      expect(asUser(user, ask).stderr).toContain("PermissionError");
  });

  it("opens one backup at a time for the agent and records it in the journal; nobody can copy the identity", () => {
    for (const path of [`${STATE}/keys/*`, `${HELD}/age.key`])
      expect(asUser("attestore", `cat ${path}`).stdout).not.toContain("AGE-SECRET-KEY");
    const { stderr } = asUser(
      "attestore",
      `ATTESTORE_HOME=${STATE} attestore keys export --secret --output /tmp/taken`,
    );
    expect(stderr).toContain("the signing process holds the identity");
    mustShell(`runuser -u attestore -- env ATTESTORE_HOME=${STATE} attestore restore --source papers --output /tmp/papers.tar
      tar -xOf /tmp/papers.tar | grep -q one`);
    expect(mustShell("journalctl --no-pager -u attestore-signer")).toMatch(
      /gave the file key of the header [0-9a-f]{64}/,
    );
    // Another host's, or the one before: root puts it beside.
    mustShell(`
      ssh-keygen -q -N '' -t ed25519 -f ${HELD}/age-other.key
      chown attestore-signer: ${HELD}/age-other.key
    `);
    expect(toldByDoctor("identity")).toContain("for 2 recipients");
  });

  it("adds a new identity beside the old one, which stays", () => {
    const told = JSON.parse(mustShell("attestore keys rotate encryption --yes --json")) as {
      recipients: string[];
      identity_file: string;
    };
    expect(mustShell(`grep -l "${told.recipients[0]}" ${HELD}/age-*.key`)).toContain(HELD);
    expect(mustShell(`cat ${STATE}/${told.identity_file}`)).not.toContain("AGE-SECRET-KEY");
    backUp();
    mustShell(
      `runuser -u attestore -- env ATTESTORE_HOME=${STATE} attestore restore --source papers --output /tmp/newer.tar`,
    );
  });

  it("rotates the signing key, and survives being killed meanwhile", () => {
    const told = JSON.parse(mustShell("attestore keys rotate signing --yes --json")) as { in_use: string };
    mustShell("systemctl kill --kill-who=main -s KILL attestore-signer.service");
    expect(backUp()).toContain("papers");
    expect(toldByDoctor("signing key")).toContain(told.in_use);
    expect(mustShell(`find ${HELD} -maxdepth 1 -name 'agent*.key'; ls ${HELD}/retired`)).toBe(
      `${HELD}/agent.key\n${"0".repeat(43)}.key\n`,
    );
  });

  it("starts again however often it has ended shortly before", () => {
    mustShell(`
      kills=0
      while [ $kills -lt 8 ]; do
        if [ "$(systemctl is-active attestore-signer.service)" = active ]; then
          systemctl kill --kill-who=main -s KILL attestore-signer.service
          kills=$((kills + 1))
        fi
        # Unless the unit runs, only a connection starts it.
        runuser -u attestore -- python3 -c '
import socket
socket.socket(socket.AF_UNIX).connect("/run/attestore/signer.sock")'
        sleep 0.1
      done
    `);
    expect(backUp()).toContain("papers");
  });

  it("runs without rights that it does not need, in a unit that systemd understands completely", () => {
    for (const unit of ["attestore-signer.socket", "attestore-signer.service"]) {
      const { code, stdout, stderr } = system.run([
        "systemd-analyze",
        "verify",
        "--recursive-errors=yes",
        `/lib/systemd/system/${unit}`,
      ]);
      expect([code, stdout + stderr]).toEqual([0, ""]);
    }
    mustShell("systemd-analyze security --offline=true --threshold=15 attestore-signer.service");
    expect(mustShell("stat -c '%U %a' /run/attestore/signer.sock").trim()).toBe("attestore 600");
    const pid = mustShell("systemctl show --value -p MainPID attestore-signer").trim();
    const status = mustShell(`cat /proc/${pid}/status`);
    for (const line of [/^NoNewPrivs:\s+1$/m, /^Seccomp:\s+2$/m, /^CapBnd:\s+0+$/m])
      expect(status).toMatch(line);
    expect(mustShell(`tail -n +3 /proc/${pid}/net/dev | cut -d: -f1`).trim()).toBe("lo");
  });
});
