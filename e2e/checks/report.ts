/** Prints every problem with its cure, and ends the process with the matching exit code. */
export function report(subject: string, problems: string[]): never {
  for (const problem of problems) console.error(`✗ ${problem}`);
  console.log(problems.length === 0 ? `${subject}: all good` : `${subject}: ${problems.length} to mend`);
  process.exit(problems.length === 0 ? 0 : 1);
}
