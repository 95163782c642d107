/** Words about passkeys and recovery codes. */
export const passkeys = {
  title: "Passkeys",
  lead: "A passkey signs you in with your fingerprint, face, PIN or security key. No code is mailed.",
  signIn: {
    action: "Sign in with a passkey",
    or: "or with a code by mail",
    recoveryCode: "Recovery code",
    recoveryHint:
      "You have a passkey, so the code from your mail is not enough. Type one of your recovery codes too, or start over and use your passkey.",
  },
  failure: {
    none: "Your browser used no passkey: you cancelled, it took too long, or there is none here for this service. Try again.",
    there: "This device or security key has a passkey for your account already.",
    unsupported: "This browser knows no passkeys. Use a current version of another one.",
  },
  operator: {
    title: "Operators need a passkey",
    first:
      "Whoever reads an operator's mail could run the service. Add a passkey: until then you can do nothing else here.",
    another:
      "You signed in without your passkey. Sign out and sign in with it. If it is lost, add a new one, and remove the lost one.",
  },
  list: {
    title: "Your passkeys",
    none: "You have no passkey. Anybody who reads your mail can sign in as you.",
    column: { name: "Name", added: "Added", used: "Last used", kind: "Kind", action: "Action" },
    never: "never",
    synced: "synced between devices",
    bound: "on one device",
  },
  add: {
    title: "Add a passkey",
    explanation:
      "Give it a name that tells you where it is, such as the device's. Your browser then asks you to confirm. From your first passkey on, a code by mail alone does not sign you in any more.",
    name: "Name of the passkey",
    action: "Add a passkey",
    added: (name: string) => `Added: ${name}.`,
  },
  rename: {
    action: "Rename",
    of: (name: string) => `Rename ${name}`,
    label: "Name of the passkey",
    save: "Save the name",
  },
  remove: {
    action: "Remove",
    of: (name: string) => `Remove ${name}`,
    title: (name: string) => `Remove ${name}?`,
    goes: "It does not sign you in any more. Your other sessions end.",
    goesLast:
      "It is your last one: your recovery codes go with it, and whoever reads your mail can sign in as you. Your other sessions end.",
    stays:
      "You stay signed in here. Your device may go on offering the passkey until you delete it there too.",
    lastOfOperator: "An operator has at least one passkey: add another one first",
  },
  codes: {
    title: "Recovery codes",
    explanation:
      "For when you have lost your passkeys: a code by mail and one of these sign you in. Each works once.",
    left: (count: number) => (count === 1 ? "1 code is left." : `${count} codes are left.`),
    renew: "Make new recovery codes",
    renewTitle: "Make new recovery codes?",
    renewText: "You get ten new ones. Those that you have do not work any more.",
    shown: "Your recovery codes",
    list: "The codes",
    shownOnce:
      "These are shown this once. Print them or keep them in a password manager, not on the device that has your passkey.",
    copy: "Copy the codes",
    download: "Download the codes",
    file: "attestore-recovery-codes.txt",
    fileText: (email: string, service: string, codes: readonly string[]) =>
      `Recovery codes of ${email} for ${service}\n\n${codes.join("\n")}\n\nEach works once, together with a code by mail.\n`,
    noted: "I have kept them",
  },
  again: {
    title: "Sign in again to change this",
    action: "Sign in again",
  },
} as const;
