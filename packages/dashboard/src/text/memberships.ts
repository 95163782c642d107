/** Words about a person's own memberships. */
export const memberships = {
  title: "Your organisations",
  choose: "Organisation",
  only: "You belong to this organisation only.",
  several: (count: number) =>
    `You belong to ${count} organisations. Choose another one at the top of the page.`,
  invited: (org: string, role: string) => `You are invited to ${org} as ${role}.`,
  until: "The invitation ends",
  decline: "Decline",
  declineOf: (org: string) => `Decline the invitation to ${org}`,
  accept: "Accept",
  acceptOf: (org: string) => `Accept the invitation to ${org}`,
  leave: {
    action: "Leave the organisation",
    title: (org: string) => `Leave ${org}?`,
    confirm: (org: string) => `Leave ${org}`,
    text: "You are signed out, and see nothing of this organisation any more. What you did stays in its log. To come back you have to be invited again.",
  },
} as const;
