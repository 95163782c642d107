import type { Config } from "../../root/config.ts";
import type { Call } from "../command.ts";
import type { Finding } from "./finding.ts";

/** The programs that the declared sources need. */
export async function examineEngines(_call: Call, _config: Config): Promise<Finding[]> {
  return [];
}
