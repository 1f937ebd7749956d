import type { Formats, Texts } from './texts';

const failures: Record<string, string> = {
  unreachable: 'unreachable',
  hang: 'timed out',
  integrity: 'integrity mismatch',
  'entry-threw': 'entry threw',
  'init-threw': 'initialization threw',
  'module-missing': 'module missing',
  'chunk-lost': 'chunk lost',
  'render-threw': 'render threw',
  contract: 'contract mismatch',
};

const vitalNames: Record<string, string> = {
  lcp: 'Largest paint LCP',
  inp: 'Interaction INP',
  cls: 'Layout shift CLS',
  load: 'Load time',
};

const scriptErrors: Record<string, string> = { uncaught: 'uncaught errors', rejection: 'unhandled rejections' };

const verbs: Record<string, string> = {
  init: 'Created',
  activate: 'Activated',
  canary: 'Canary',
  promote: 'Promoted',
  abort: 'Aborted',
  rollback: 'Rolled back to',
  kill: 'Killed',
  withdraw: 'Withdrew',
  renew: 'Renewed',
  promoted: 'Carried on',
  seed: 'Made from another channel',
  preview: 'Opened a local preview',
  'preview-end': 'Ended a local preview',
};

const roles: Record<string, string> = {
  viewer: 'Viewer',
  publisher: 'Publisher',
  deployer: 'Deployer',
  manager: 'Manager',
};

const refusals: Record<number, string> = {
  0: 'The console does not answer. Check your network.',
  400: 'The request was wrong. Nothing was changed.',
  401: 'You are no longer signed in. Sign in again.',
  403: 'You are not permitted to do that.',
  409: 'The state has just changed, so nothing was done. Look at the new state before you decide.',
  422: 'Refused. Nothing was changed.',
  429: 'Too many requests. Try again in a minute.',
  503: 'The release store cannot be reached right now. Try again later.',
};

const signInFailures: Record<string, string> = {
  away: 'The sign-in service cannot be reached right now. Try again later, or use an access token.',
  declined: 'The sign-in service did not sign you in.',
  noAccess: 'You are signed in, but none of your groups has a role here. Ask an administrator, or use another account.',
  expired: 'Signing in took too long, or began in another window. Try again.',
};

/** The console's texts in English. */
export const english = ({ number, percent, milliseconds }: Formats): Texts => {
  const count = (of: number, one: string, many = `${one}s`) => `${number(of)} ${of === 1 ? one : many}`;
  return {
    title: 'Release console',
    documentTitle: 'Release console · Liaozhai',
    signIn: {
      hint: 'Paste an access token (pnpm release token create manager)',
      label: 'Access token',
      action: 'Sign in',
      wrong: 'This token is wrong or no longer valid. Use another one.',
      provider: 'Single sign-on',
      or: 'or with an access token',
      ended: 'Your session has ended. Sign in again.',
    },
    signOut: 'Sign out',
    channel: 'Channel',
    role: (role, name) => (name ? `${roles[role] ?? role} · ${name}` : (roles[role] ?? role)),
    loading: 'Loading the state',
    stale: 'Connection lost, retrying. Below is the state as last seen.',
    nothingSeen: 'The state cannot be read right now, retrying.',
    notices: 'Notices',
    live: {
      title: 'Live',
      nothing: 'No build is live yet',
      since: (when, who) => `deployed by ${who}, ${when}`,
      lastGood: 'Fallback',
      killed: 'Killed',
      killedBuilds: (builds) => `Killed: ${builds}`,
      rollback: 'Roll back',
      rollbackAll: 'Roll back everything',
      withdraw: 'Withdraw',
      promoteFrom: (channel) => `Take over what ${channel} runs`,
      expires: (when) => `Signature valid until ${when}`,
      state: (seq) => `State ${seq}`,
    },
    candidate: {
      title: 'Canary',
      nothing: 'No canary is running. Start one from a build under “Builds”.',
      share: (share) => `${percent(share)} of visitors`,
      slider: 'Share of visitors',
      apply: 'Change share',
      promote: 'Promote',
      abort: 'Abort canary',
    },
    health: {
      title: 'Health',
      waiting: 'No health data yet',
      stable: 'Stable',
      candidate: 'Candidate',
      visitors: 'Visitors',
      failed: 'Failed visitors',
      loads: 'Loads',
      p75: 'Load time p75',
      failures: 'Failures',
      none: 'none',
      share: (part, whole) => `${number(part)} (${whole === 0 ? '–' : percent((part / whole) * 100, 1)})`,
      failedOf: (failed, visitors) => `${number(failed)} of ${number(visitors)} failed`,
      alarm: (failed, visitors) =>
        `${number(failed)} of ${count(visitors, 'visitor')} failed in the last 15 minutes. Consider rolling back.`,
      tooFew: 'Too few visitors to judge yet',
      fine: (p) => `No difference beyond chance (Fisher exact test, p = ${p})`,
      worse: (p) => `Fails more often, beyond chance (Fisher exact test, p = ${p}). It will be stopped automatically.`,
    },
    vitals: {
      title: 'What visitors felt',
      about:
        'The figures are p75: three quarters of the pages do not exceed them. A candidate whose LCP, INP or load time gets clearly slower is stopped automatically.',
      metric: (metric) => vitalNames[metric] ?? metric,
      figure: (value, pages) => `${value} (${count(pages, 'page')})`,
      few: (pages) => `too few to say (${count(pages, 'page')})`,
      over: (minutes) =>
        minutes < 60
          ? `A point for every ${count(minutes, 'minute')}, until now`
          : `A point for every ${count(minutes / 60, 'hour')}, until now`,
      nothing: 'No page has reported yet',
      tooFew: 'Too few pages to judge yet',
      fine: 'Not slower',
      slower: (p) => `Slower, beyond chance (rank test, p = ${p}). It will be stopped automatically.`,
      failed: (version, kind, of) => `${version}: ${number(of)} ${scriptErrors[kind] ?? kind}`,
    },
    builds: {
      title: 'Builds',
      nothing: 'No build has been published yet',
      none: 'no build live',
      lost: 'The list could not be loaded. It will be tried again.',
      running: 'Live',
      damaged: 'Damaged',
      check: 'Check',
      activate: 'Activate',
      canary: 'Canary 5%',
      override: 'Override link',
      kill: 'Kill',
      by: (who, when) => `Published by ${who}, ${when}`,
      commit: (commit) => `Commit ${commit}`,
      change: 'Change',
      run: 'CI run',
      size: (bytes, files) => `${number(Math.round(bytes / 1024))} KiB, ${count(files, 'file')}`,
    },
    preview: {
      title: 'Local previews',
      about: 'Lets one person run remotes from their own dev server, in their own browser. Nobody else is affected. ',
      nothing: 'None is open.',
      request: 'Request',
      requestHint: 'Paste what stands between the quotes on their page: remote@address and browser',
      person: 'For whom (goes into the log)',
      hours: 'Hours',
      open: 'Open',
      openFor: 'Open one for somebody',
      end: 'End',
      subject: (person, remotes) => `${person}: ${remotes}`,
      until: (when, who) => `until ${when}, opened by ${who}`,
      only: (person, hours) => `For this one browser of ${person} only, for ${number(hours)} h`,
      unchecked: 'Nobody has checked this code; it can do whatever its person can do on the site',
    },
    log: {
      title: 'Log',
      restore: 'Return to this state',
      restoreState: (seq) => `Return to state ${seq}`,
      by: (who, when) => `${who}, ${when}`,
      why: (why) => `“${why}”`,
    },
    subject: {
      from: (builds, channel, seq) => `${builds} (from ${channel}, state ${seq})`,
      into: (builds, channel, seq) => `${builds} (to ${channel}, state ${seq})`,
      init: 'the channel',
      renew: 'the signature of the same state',
      canary: (builds, share) => `${builds} (${percent(share)} of visitors)`,
      rollback: (builds, to) => `${builds} (as in state ${to})`,
    },
    evidence: {
      finding: (check, problem, forced) => `${forced ? 'Check overridden' : 'Check failed'} (${check}): ${problem}`,
      overtaken: (build, name) => `${build} left the canary: another build of ${name} went live for everyone`,
      candidateDropped: (builds) => `Canary ended: ${builds} is not compatible with the new stable set`,
      health: (group, failed, visitors, reasons, p75) =>
        `${group}: ${number(failed)} of ${count(visitors, 'visitor')} failed (${reasons}), load time p75 ${p75 === null ? '–' : milliseconds(p75)}`,
      verdict: (p, alpha) =>
        `The candidate fails more often than stable, beyond chance (Fisher exact test, p = ${p}, limit ${alpha})`,
      slower: (build, metric, tried, stable, p, alpha) =>
        `${build} is slower than stable, beyond chance: ${metric} p75 ${tried}, stable ${stable} (rank test, p = ${p}, limit ${alpha})`,
    },
    confirm: {
      cancel: 'Cancel',
      why: 'Reason (goes into the log)',
      changes: 'This will change:',
      nothing: 'Same as now, nothing will change.',
      removed: (name, version) => `${name}: removed (${version})`,
      added: 'new',
      change: (name, from, to, origin) => `${name}: ${from} → ${to}${origin && ` (${origin})`}`,
      typed: (name) => `Type ${name} to confirm`,
      mistyped: (name) => `This is not ${name}`,
      gentler: (way) => `${way} (can be undone)`,
    },
    kill: {
      forGood: (version) => `${version} will never run again. This cannot be undone.`,
      takesPlace: (version) => `Everyone moves to ${version}`,
      nothingLeft: (places) => `No other build can take over. Nobody will be able to open: ${places}`,
      endsCandidate: 'The canary it is part of ends too',
    },
    busy: 'Working…',
    done: {
      changed: (seq) => `Done. This is state ${seq} now.`,
      unchanged: 'There was nothing to change',
      checked: 'All checks passed, ready to activate',
      override: 'Override link made, valid for two hours',
      overrideWithoutSite: 'Override link made, valid for two hours. Append this to the address of any page:',
      copy: 'Copy',
      copied: 'Copied',
      copyFailed: 'Not copied: select the text above',
      close: 'OK',
    },
    justNow: 'just now',
    list: (items) => items.join(', '),
    listAndMore: (items, more) => `${items} and ${number(more)} more`,
    verb: (verb) => verbs[verb] ?? verb,
    refusal: (status) => refusals[status] ?? 'That did not work.',
    failure: (failure) => failures[failure] ?? failure,
    signInFailure: (failure) => signInFailures[failure] ?? 'Signing in failed. The console’s log says why.',
  };
};
