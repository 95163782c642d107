import { CallRefused } from "@attestore/contract/client";

/** The service's error messages about a request, by field path. */
export function issueMessages(error: Error | null): Map<string, string> {
  const issues = error instanceof CallRefused ? error.details["issues"] : undefined;
  const messages = new Map<string, string>();
  if (!Array.isArray(issues)) return messages;
  for (const issue of issues as unknown[])
    if (typeof issue === "object" && issue !== null && "path" in issue && "message" in issue)
      messages.set(String(issue.path), String(issue.message));
  return messages;
}
