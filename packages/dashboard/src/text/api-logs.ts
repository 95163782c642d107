/** What the pages about API calls say. */
export const apiLogText = {
  title: "API logs",
  lead: "Who called what, when and from where. Neither bodies nor secrets are ever in it.",
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
    actor: "One person or agent",
    allActors: "Everybody",
    people: "People",
    agents: "Agents",
    other: "Somebody else",
    method: "Method",
    status: "Answer",
    statusHint: "Such as 403",
    statusWrong: "A status is three digits, such as 403.",
    all: "All",
  },
  kinds: {
    user: "People",
    agent: "Agents",
    operator: "Operators",
    auth_key: "Auth keys",
    anonymous: "Nobody signed in",
    console: "The service's console",
    auditor_link: "Auditors' links",
  },
  console: (user: string) => `console (${user})`,
  impersonated: (operator: string) => `by the operator ${operator}`,
  none: "No call is recorded yet.",
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
    unknown: "not told",
    requestHint: "The request's id is in the answer that the caller got, and in the service's own log.",
    meaning: (status: number) =>
      status >= 500
        ? "a defect of the service, or something it needs was gone"
        : status === 429
          ? "too many calls"
          : status === 409
            ? "in conflict with what is there"
            : status === 404
              ? "not there, or not theirs"
              : status === 403
                ? "not allowed to them"
                : status === 401
                  ? "not signed in"
                  : status >= 400
                    ? "refused as it was"
                    : "done",
  },
} as const;
