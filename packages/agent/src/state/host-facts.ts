import { arch, hostname, platform, release } from "node:os";
import packageJson from "../../package.json" with { type: "json" };

export const agentVersion: string = packageJson.version;

/** This host's description for the service. */
export function hostFacts(): { agent_version: string; hostname: string; platform: string } {
  return {
    agent_version: agentVersion,
    hostname: hostname().slice(0, 253) || "localhost",
    platform: `${platform()} ${arch()} ${release()}`.slice(0, 64).trim(),
  };
}
