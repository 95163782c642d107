import { plural } from "./format.ts";
/** Texts about passkeys and recovery codes. */
export const passkeys = {
  title: "Passkeys",
  lead: "A passkey signs you in with your fingerprint, face, PIN or security key. No code is mailed.",
  signIn: {
    action: "Sign in with a passkey",
    or: "or with a code by mail",
    recoveryCode: "Recovery code",
    recoveryHint:
      "You have a passkey, so the mailed code alone is not enough. Enter one of your recovery codes too, or start over and use your passkey.",
  },
  failure: {
    none: "Your browser did not use a passkey: you cancelled, it timed out, or there is none here for this service. Try again.",
    there: "This device or security key already has a passkey for your account.",
    unsupported: "This browser does not support passkeys. Use a current version of another browser.",
  },
  operator: {
    title: "Operators need a passkey",
    first:
      "Anybody who can read an operator's mail could take over the service. Add a passkey. Until then you can do nothing else here.",
    another:
      "You signed in without your passkey. Sign out and sign in with it. If you have lost it, add a new one and remove the lost one.",
  },
  list: {
    title: "Your passkeys",
    none: "You have no passkey. Anybody who can read your mail can sign in as you.",
    column: { name: "Name", added: "Added", used: "Last used", kind: "Kind", action: "Action" },
    never: "never",
    synced: "synced between devices",
    bound: "on one device",
  },
  add: {
    title: "Add a passkey",
    explanation:
      "Name it after the device it is on. Your browser then asks you to confirm. Once you have a passkey, a mailed code alone no longer signs you in.",
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
    goes: "It can no longer sign you in. Your other sessions end.",
    goesLast:
      "It is your last one. Your recovery codes are removed too, and anybody who can read your mail can sign in as you. Your other sessions end.",
    stays: "You stay signed in here. Your device may still offer the passkey until you delete it there too.",
    lastOfOperator: "An operator needs at least one passkey. Add another one first",
  },
  codes: {
    title: "Recovery codes",
    explanation:
      "If you lose your passkeys, a mailed code together with one of these signs you in. Each works once.",
    left: (count: number) => `${plural(count, "code is", "codes are")} left.`,
    renew: "Make new recovery codes",
    renewTitle: "Make new recovery codes?",
    renewText: "You get ten new codes. Your current ones stop working.",
    shown: "Your recovery codes",
    list: "The codes",
    shownOnce:
      "These codes are shown only once. Print them, or keep them in a password manager, but not on the device that has your passkey.",
    copy: "Copy the codes",
    download: "Download the codes",
    file: "attestore-recovery-codes.txt",
    fileText: (email: string, service: string, codes: readonly string[]) =>
      `Recovery codes of ${email} for ${service}\n\n${codes.join("\n")}\n\nEach works once, together with a code by mail.\n`,
    noted: "I have saved them",
  },
  again: {
    title: "Sign in again to change this",
    action: "Sign in again",
  },
} as const;
