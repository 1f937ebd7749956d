import { Fragment } from 'react';
import type { BuildSummary } from './api';
import styles from './Console.module.css';
import { texts } from './texts';

type Origin = Pick<BuildSummary['provenance'], 'commit' | 'author' | 'change' | 'run'>;

/** The store's word is not the console's: only an address of the web becomes a link. */
const isAddress = (address?: string): address is string => /^https?:\/\//.test(address ?? '');

const Link = ({ to, children }: { to: string; children: string }) => (
  <a href={to} target="_blank" rel="noreferrer">
    {children}
  </a>
);

/** What a build was made from: commit and author, and where its change and its pipeline run can be read. */
export function OriginLine({ commit, author, change, run }: Origin) {
  const parts = [
    commit && texts.builds.commit(commit),
    author,
    isAddress(change) && <Link to={change}>{texts.builds.change}</Link>,
    isAddress(run) && <Link to={run}>{texts.builds.run}</Link>,
  ].filter(Boolean);
  if (parts.length === 0) return null;
  return (
    <small className={styles.origin}>
      {parts.map((part, at) => (
        <Fragment key={at}>
          {at > 0 && ' · '}
          {part}
        </Fragment>
      ))}
    </small>
  );
}
