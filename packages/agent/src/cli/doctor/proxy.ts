import { UserError } from "../../errors/user-error.ts";
import { proxyHost } from "../../transport/proxy.ts";
import { failed, type Finding, ok } from "@attestore/host/finding";

/** A proxy in the environment affects every connection; without one, nothing is reported. */
export function examineProxy(): Finding[] {
  try {
    const host = proxyHost();
    return host === null ? [] : [ok("proxy", `${host} (HTTPS_PROXY), except for hosts in NO_PROXY`)];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [failed("proxy", error.message, "correct HTTPS_PROXY here and in the file env of the root")];
  }
}
