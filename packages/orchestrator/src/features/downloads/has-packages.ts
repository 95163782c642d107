import { access } from "node:fs/promises";
import { join } from "node:path";

/** Whether hosts can install the agent from this directory. */
export async function hasPackages(directory: string): Promise<boolean> {
  return access(join(directory, "install.sh")).then(
    () => true,
    () => false,
  );
}
