import { access } from "node:fs/promises";
import { join } from "node:path";

/**
 * Whether hosts can install the agent from this directory. The signature is written last: while
 * `npm run package` works, there is an installer with nothing to install.
 */
export async function hasPackages(directory: string): Promise<boolean> {
  return access(join(directory, "SHA256SUMS.minisig")).then(
    () => true,
    () => false,
  );
}
