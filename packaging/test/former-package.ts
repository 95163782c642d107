import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runProgram } from "../../tools/package/run-program.ts";

/** Builds a package as it was under its former name: its program does nothing, its unit runs. */
export function makeFormerPackage(directory: string): string {
  const tree = join(directory, "former");
  const place = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
    chmodSync(join(tree, path), mode);
  };
  place(
    "DEBIAN/control",
    "Package: attestore-agent\nVersion: 0.0.9\nArchitecture: all\nMaintainer: Attestore <packages@attestore.dev>\nDescription: the agent under its former name\n",
  );
  place(
    "DEBIAN/postinst",
    `#!/bin/sh
set -e
adduser --system --group --quiet --no-create-home --home /var/lib/attestore attestore
deb-systemd-helper enable attestore-agent.service >/dev/null
systemctl daemon-reload
systemctl start attestore-agent.service
`,
    0o755,
  );
  place("DEBIAN/prerm", "#!/bin/sh\nset -e\nsystemctl stop attestore-agent.service\n", 0o755);
  place("usr/bin/attestore-agent", "#!/bin/sh\nexec sleep infinity\n", 0o755);
  place(
    "lib/systemd/system/attestore-agent.service",
    "[Unit]\nDescription=former\n[Service]\nUser=attestore\nEnvironmentFile=-/etc/attestore/agent-env\nExecStart=/usr/bin/attestore-agent\n[Install]\nWantedBy=multi-user.target\n",
  );
  const file = join(directory, "attestore-agent_0.0.9_all.deb");
  runProgram("dpkg-deb", ["--root-owner-group", "--build", tree, file]);
  return file;
}
