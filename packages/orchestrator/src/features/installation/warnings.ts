import type { InstallationState } from "./installation.ts";

/** For `/readyz`: the service works, but not all of it. */
export function warningsOf({ pairing, setBack }: InstallationState): string[] {
  return [
    ...(pairing.is === "held" ? ["deletions_held"] : []),
    ...(setBack.length > 0 ? ["logs_set_back"] : []),
  ];
}
