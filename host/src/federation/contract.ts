import { CONTRACT_VERSION } from '@liaozhai/shared/runtime';

/** Whether a remote that needs `range` (`^major.minor.patch`) fits the `shared/runtime` this host provides. */
export function satisfiesContract(range: string, provided: string = CONTRACT_VERSION): boolean {
  const [major, minor = 0, patch = 0] = range.replace(/^\^/, '').split('.').map(Number);
  const [hasMajor, hasMinor = 0, hasPatch = 0] = provided.split('.').map(Number);
  return major === hasMajor && (minor < hasMinor || (minor === hasMinor && patch <= hasPatch));
}
