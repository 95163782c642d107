import { hasPackages } from "../downloads/has-packages.ts";
import { operatorsKey } from "../downloads/operators-key.ts";
import { attachCommand, installCommand, type InstallFrom } from "./install-command.ts";

/**
 * The line to run on a host, together with an auth key. Before `npm run package` a service has
 * nothing to install from. Then the line is for the machine that the service runs on: its checkout
 * has an agent too.
 */
export async function commandForHosts(
  service: Omit<InstallFrom, "operatorsKey">,
  downloads: string,
): Promise<string> {
  if (!(await hasPackages(downloads))) return `npx ${attachCommand(service)}`;
  return installCommand({ ...service, operatorsKey: await operatorsKey(downloads) });
}
