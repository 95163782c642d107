import { useAgentProgram } from "../../api/served-for-hosts.ts";
import { home } from "../../text/home.ts";

type Command = "make_recovery_kit" | "test_recovery_kit";

/** Commands about the recovery kit, one a line, as they are run on an agent's host. */
export function useKitCommands(commands: readonly Command[]): string {
  const program = useAgentProgram();
  return commands.map((command) => `${program} ${home.commands[command]}`).join("\n");
}
