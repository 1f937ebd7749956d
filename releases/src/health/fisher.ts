const logFactorials: number[] = [0];

function logFactorial(n: number): number {
  for (let known = logFactorials.length; known <= n; known += 1)
    logFactorials.push((logFactorials[known - 1] ?? 0) + Math.log(known));
  return logFactorials[n] ?? 0;
}

const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

/** How many failed of how many. */
export interface Sample {
  failed: number;
  total: number;
}

/**
 * Fisher's exact test, one-sided: how likely chance alone gives `tried` this many failures or more, if both groups fail alike.
 * 1 = no sign of harm.
 */
export function fisherWorse(tried: Sample, control: Sample): number {
  const total = tried.total + control.total;
  const failed = tried.failed + control.failed;
  const all = logChoose(total, tried.total);
  let sum = 0;
  for (let k = tried.failed; k <= Math.min(failed, tried.total); k += 1)
    if (tried.total - k <= total - failed)
      sum += Math.exp(logChoose(failed, k) + logChoose(total - failed, tried.total - k) - all);
  return Math.min(1, sum);
}
