// Reads the reports of Rstest and Playwright: counts, and failures shortened for the end of the output.
import { existsSync, readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

/** Lines shown of each error; the full error is in the output of the test. */
const shownLines = 14;

const read = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null);

/** Output of the browser since its start, which precedes the call log. */
const browserLogs = /^Browser logs:$.*?^(?=Call log:$)/ms;

function failure(name, errors = []) {
  const lines = errors.flatMap(({ stack, message }) =>
    stripVTControlCharacters(stack ?? message ?? '')
      .replace(browserLogs, '')
      .split('\n')
      .filter((line) => !/^\s+at .*(node_modules\/|node:)/.test(line))
      .slice(0, shownLines),
  );
  return [`✗ ${name}`, ...lines.map((line) => `    ${line}`)].join('\n');
}

const died = { passed: 0, failed: 1, failures: [failure('it ended before it could count')] };

/** Returns `{ passed, failed, failures, durations }` of an Rstest report; `ok` is whether the command succeeded. */
export function unitOutcome(path, ok) {
  const report = read(path);
  if (!report) return died;
  const { passedTests: passed, failedTests, skippedTests, todoTests } = report.summary;
  const failed = failedTests + skippedTests + todoTests;
  const failures = report.files.flatMap((file) => [
    // a file that fails to load has no tests to count
    ...(file.errors?.length > 0 ? [failure(file.testPath, file.errors)] : []),
    ...file.results
      .filter(({ status }) => status !== 'pass')
      .map(({ fullName, status, errors }) => failure(`${file.testPath} › ${fullName} (${status})`, errors)),
  ]);
  const durations = report.files.flatMap(({ testPath, results }) =>
    results.map(({ fullName, duration = 0 }) => ({ name: `${testPath} › ${fullName}`, ms: duration })),
  );
  return { passed, failed: ok ? failed : Math.max(failed, 1), failures, durations };
}

const specsIn = (suite) => [...(suite.specs ?? []), ...(suite.suites ?? []).flatMap(specsIn)];

/** Same for a Playwright report. */
export function browserOutcome(path, ok) {
  const report = read(path);
  if (!report) return died;
  const { stats, errors } = report;
  const failed = stats.unexpected + stats.flaky + stats.skipped + errors.length;
  const tests = report.suites
    .flatMap(specsIn)
    .flatMap(({ file, line, title, tests }) => tests.map((test) => ({ ...test, name: `${file}:${line} › ${title}` })));
  const failures = tests
    .filter(({ status }) => status !== 'expected')
    .map(({ name, projectName, status, results }) =>
      failure(
        `${projectName} ${name} (${status})`.trimStart(),
        results.flatMap(({ errors }) => errors),
      ),
    );
  return {
    passed: stats.expected,
    failed: ok ? failed : Math.max(failed, 1),
    failures: [...failures, ...errors.map((error) => failure('outside of the tests', [error]))],
    durations: tests.map(({ name, projectName, results }) => ({
      name: `${projectName} ${name}`.trimStart(),
      ms: results.reduce((total, { duration }) => total + duration, 0),
    })),
  };
}
