import { plural } from "./format.ts";

export const attach = {
  title: "Attach an agent",
  lead: "An agent runs on the host that has the data. It makes backups there, and restores them.",
  ways: { label: "Way to attach", key: "With an auth key", code: "With a code" },
  attached: (name: string) => `${name} is attached.`,
  onlyHere:
    "This attaches the machine on which the service runs. Run it in the directory from which you started the service.",
  packages: {
    building: (step: number, steps: number) =>
      `Packages for other hosts are being built: ${step} of ${steps}. This takes about a minute, and the page goes on by itself.`,
    progress: "Building packages for other hosts",
    readySince: "Packages for other hosts are ready now: to attach one, make another key.",
    failed:
      "Other hosts cannot be attached yet: their packages could not be built. The console of the service says why. Then run npm run package in its directory.",
    none: "Other hosts cannot be attached yet: run npm run package in the directory from which you started the service.",
    loopback: (host: string) =>
      `Only the machine of the service knows it as ${host}. For other hosts, start it with ATTESTORE_LISTEN=:8443 and ATTESTORE_PUBLIC_URL=https://NAME:8443, where NAME is one that they reach.`,
    architectures: (built: readonly string[]) =>
      built.includes("arm64")
        ? `For hosts with Linux on ${built.join(" and ")}.`
        : `For hosts with Linux on ${built.join(" and ")} (x86-64). For arm64, run npm run package -- --arch amd64,arm64 in the directory of the service.`,
  },
  allow: {
    label: "Let owners and admins add sources and checks in the browser",
    hint: "The agent then offers the databases that it finds, and adds those you choose here. Nobody can send it an address, a password or SQL, or have it remove anything. Only the host can change this later: attestore remote-config on or off.",
  },
  key: {
    explanation:
      "You get a key and a command. Run the command on the host, and enter the key when it asks. The key is not part of the command, because commands end up in shell histories.",
    options: "Options: name, how long it works, how many agents",
    name: "What the key is for (optional)",
    namePlaceholder: "rack 7",
    expires: "The key works for",
    expiries: { hour: "1 hour", day: "1 day", week: "7 days", quarter: "90 days" },
    uses: "How many agents may attach with it",
    usesHint: "Leave empty for any number until it expires",
    make: "Make an auth key",
    shownOnce: "The key is shown only once. Copy it now. If you lose it, make a new one.",
    enter: "2. Enter this key when it asks",
    works: {
      before: "It works until ",
      agents: (uses: number | null) =>
        ` for ${uses === null ? "any number of agents" : plural(uses, "agent")}.`,
    },
    secret: "Auth key",
    copySecret: "Copy the key",
    run: "1. Run this on the host",
    command: "Command that attaches the host",
    noted: "Done with this key",
    waiting: "Waiting for an agent to attach. This page updates by itself.",
    attached: "3. The agent attaches",
    open: (name: string) => `Open ${name}`,
  },
  after: {
    declare: "Next, say what to back up: here, or with a command on the host.",
    addSource: "Add a source",
    declareCommand: "Command that adds a source",
    running: "Its agent is running.",
    run: "Start the agent, and leave it running: it does what you start here, and what is scheduled.",
    unit: "The installer starts the agent, which takes a few seconds. If nothing changes here, or there was no installer, start it:",
    runCommand: "Command that starts the agent",
  },
  code: {
    explanation:
      "On a host that has the agent, run this without a key. It prints a code and its key's fingerprint, and waits for 15 minutes.",
    install:
      "To install the agent first, use the command of “With an auth key”, and press Enter when it asks for the key: it then shows a code.",
    command: "On the host",
    label: "Code that the host shows",
    hint: "XXXX-XXXX; upper or lower case, with or without the hyphen",
    review: "Look it up",
    noSuch:
      "No host is waiting with this code. Codes are valid for 15 minutes. Enter it exactly as the host shows it.",
    expired: "This code has expired. Run attestore init on the host again.",
    compareTitle: "Is this your host?",
    compare:
      "Compare the whole fingerprint with the one the host shows. If they differ, somebody else is trying to attach: deny it.",
    fingerprint: "Fingerprint of its key",
    hostname: "Host name",
    name: "Name",
    platform: "Platform",
    version: "Version",
    address: "Address",
    waits: "Waiting until",
    same: "The host shows exactly this fingerprint",
    mustCompare: "Compare the fingerprint first, and tick the box",
    choose: "Choose one",
    org: "Organisation to join",
    approve: "Approve",
    deny: "Deny",
    denyTitle: (name: string) => `Deny ${name}?`,
    denyConfirm: (name: string) => `Deny ${name}`,
    denyText: "The host is refused and its code stops working. It can ask again with a new one.",
    denied: (name: string) => `${name} was denied.`,
    another: "Look up another code",
    openAgent: "Open the agent",
    onlyReviewers: "Only owners and admins can approve or deny",
  },
} as const;
