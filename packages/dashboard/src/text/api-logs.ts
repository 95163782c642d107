/** Texts of the pages about API calls. */
export const apiLogText = {
  title: "API log",
  lead: "Who called what, when and from where. It never contains request bodies or secrets.",
  caption: "API calls, newest first",
  columns: {
    at: "When",
    actor: "Who",
    method: "Method",
    path: "What",
    status: "Answer",
    duration: "Took",
    address: "From",
  },
  filters: {
    kind: "Who",
    actor: "Person or agent",
    allActors: "Everybody",
    people: "People",
    agents: "Agents",
    other: "Others",
    method: "Method",
    status: "Answer",
    statusHint: "Such as 403",
    statusWrong: "Enter a status of three digits, such as 403.",
    all: "All",
  },
  kinds: {
    user: "People",
    agent: "Agents",
    operator: "Operators",
    auth_key: "Auth keys",
    anonymous: "Not signed in",
    console: "The service's console",
    auditor_link: "Auditor links",
  },
  console: (user: string) => `console (${user})`,
  impersonated: (operator: string) => `by the operator ${operator}`,
  none: "No calls have been recorded yet.",
  noMatch: "No call matches the filter.",
  page: {
    title: (method: string, route: string) => `${method} ${route}`,
    back: "All API calls",
    at: "When",
    actor: "Who",
    kind: "As",
    route: "Call",
    path: "Path",
    status: "Answer",
    duration: "Took",
    address: "From",
    userAgent: "Program",
    requestId: "Request",
    idempotencyKey: "Idempotency key",
    id: "Log entry",
    unknown: "unknown",
    requestHint: "The caller's response and the service's own log contain this request ID.",
    meaning: (status: number) =>
      status >= 500
        ? "a bug in the service, or something it needs was unavailable"
        : status === 429
          ? "too many calls"
          : status === 409
            ? "in conflict with the current state"
            : status === 404
              ? "not found, or not theirs"
              : status === 403
                ? "not allowed"
                : status === 401
                  ? "not signed in"
                  : status >= 400
                    ? "refused as invalid"
                    : "done",
  },
} as const;
