// `npm run ship <run number>`: publishes dist and prints a link that shows the build. The version is <major>.<minor> of
// package.json with the pipeline's run as the third number, so that nobody has to raise it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [run = ''] = process.argv.slice(2);
if (!/^[1-9]\d*$/.test(run)) {
  console.error(`the run number is "${run}": give a whole number, as \`npm run ship 42\``);
  process.exit(2);
}
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const release = (...args) => {
  const { status, stdout } = spawnSync('npm', ['run', '--silent', 'release', '--', ...args], {
    encoding: 'utf8',
    stdio: ['inherit', 'pipe', 'inherit'],
  });
  if (status !== 0) process.exit(status ?? 1);
  return stdout;
};

const { id } = JSON.parse(release('publish', 'dist', '--version', version.replace(/\d+$/, run), '--json'));
process.stdout.write(release('override', id, '--for', '3d'));
