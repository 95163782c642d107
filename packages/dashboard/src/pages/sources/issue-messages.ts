import { CallRefused } from "@attestore/contract/client";

/** What the service says is wrong with a request, by the path of what it is about. */
export function issueMessages(error: Error | null): Map<string, string> {
  const issues = error instanceof CallRefused ? error.details["issues"] : undefined;
  const messages = new Map<string, string>();
  if (!Array.isArray(issues)) return messages;
  for (const issue of issues as unknown[])
    if (typeof issue === "object" && issue !== null && "path" in issue && "message" in issue)
      messages.set(String(issue.path), String(issue.message));
  return messages;
}
