import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { releaseHere } from "./release-here.ts";
import { bootThrowawaySystem, type ThrowawaySystem } from "./throwaway-system.ts";

/** That the limits of the packaged sandbox unit are the kernel's, where the kernel has them. */

const release = await releaseHere();
const PACKAGE = `attestore_${release.version}_amd64.deb`;

let system: ThrowawaySystem;
const mustShell = (script: string): string => system.must("sh", "-ec", script);

/**
 * What a program prints that the agent has the unit start, and how it ends; see
 * isolation/frames.ts.
 */
function inUnit(program: string): string {
  const ask = `
import json, socket, struct, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(120)
s.connect("/run/attestore/sandbox.sock")
def send(kind, channel, payload): s.sendall(struct.pack(">BII", kind, channel, len(payload)) + payload)
def read(size):
    whole = b""
    while len(whole) < size:
        piece = s.recv(size - len(whole))
        if not piece: print("lost"); sys.exit()
        whole += piece
    return whole
send(1, 0, json.dumps({"disk_bytes": 1 << 30, "file_bytes": 1 << 30, "processes": 512}).encode())
send(2, 1, json.dumps({"command": "python3", "args": ["-c", sys.argv[1]], "env": {}, "cwd": None}).encode())
while True:
    kind, channel, length = struct.unpack(">BII", read(9))
    payload = read(length)
    if kind == 19: print(payload.decode(), end="")
    if kind == 21: print(json.loads(payload)["signal"]); break
`;
  return system.must("runuser", "-u", "attestore", "--", "python3", "-c", ask, program);
}
const limitedTo = (settings: string): string =>
  mustShell(`
    mkdir -p /run/systemd/system/attestore-sandbox@.service.d
    printf '[Service]\\n${settings}\\n' >/run/systemd/system/attestore-sandbox@.service.d/limits.conf
    systemctl daemon-reload
  `);
const hasController = (name: string): boolean =>
  mustShell("cat /sys/fs/cgroup/cgroup.controllers 2>/dev/null || ls /sys/fs/cgroup")
    .split(/\s/)
    .includes(name);

const GROWS = `
held = []
for _ in range(400): held.append(bytearray(b"x") * (1 << 20))
print("grown", flush=True)
`;
const FORKS = `
import os, time
try:
    for _ in range(200):
        if os.fork() == 0:
            os.closerange(0, 3)
            time.sleep(60)
            os._exit(0)
    print("all", flush=True)
except OSError: print("refused", flush=True)
`;

beforeAll(async () => {
  system = await bootThrowawaySystem();
  copyFileSync(join(release.out, PACKAGE), join(system.root, "root", PACKAGE));
  mustShell(`dpkg -i /root/${PACKAGE} >/dev/null`);
});
afterAll(() => system.stop());

it("a program gets as much as the unit's limits allow", () => {
  expect(inUnit(GROWS)).toContain("grown");
  expect(inUnit(FORKS)).toContain("all");
});

it("a program gets no more memory than MemoryMax= on a host with the memory controller", () => {
  limitedTo("MemoryMax=200M");
  if (hasController("memory")) expect(inUnit(GROWS)).toMatch(/^(lost|SIGKILL)$/m);
  // What docs/sandboxes.md says of such a host.
  else expect(inUnit(GROWS)).toContain("grown");
});

it("a program starts no more processes than TasksMax= on a host with the pids controller", () => {
  limitedTo("TasksMax=100");
  expect(inUnit(FORKS)).toContain(hasController("pids") ? "refused" : "all");
});
