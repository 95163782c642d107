/** Texts about a person's own memberships. */
export const memberships = {
  title: "Your organisations",
  choose: "Organisation",
  current: (name: string) => `Organisation: ${name}`,
  only: "You belong only to this organisation.",
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
    text: "You will be signed out and can no longer see this organisation. What you did stays in its log. To come back, you need a new invitation.",
  },
} as const;
