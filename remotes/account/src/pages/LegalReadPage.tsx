import { hostConfig, paths, useCapability, useGoBack, useLocation } from '@liaozhai/shared/runtime';
import { Button, TopBar } from '@liaozhai/shared/ui';
import { type LegalKind, legalDocument } from '../components/legalTexts';
import { texts } from '../texts';
import styles from './LegalReadPage.module.css';

export default function LegalReadPage() {
  const { pathname } = useLocation();
  const goBack = useGoBack(paths.my());
  const kind = pathname === paths.privacy() ? 'privacy' : 'terms';
  return (
    <>
      <TopBar title={texts.legal[kind]} onBack={goBack} />
      <div className={styles.page}>
        <LegalText document={kind} />
      </div>
    </>
  );
}

/** Text of a document, also for the slot `legal`. If the site has its own document, links to that instead. */
export function LegalText({ document: kind }: { document: LegalKind }) {
  const { brand, support, legal } = hostConfig();
  const offersMinorMode = useCapability('account.minor');
  const externalUrl = legal[kind];
  if (externalUrl) {
    return (
      <>
        <p className={styles.lead}>{texts.legal.elsewhere(texts.legal[kind])}</p>
        <Button asLink={<a href={externalUrl} />}>{texts.legal.open}</Button>
      </>
    );
  }
  const { title, since, lead, sections } = legalDocument(kind, { ...support, brand: brand.name }, offersMinorMode);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: in the sheet nothing else takes the keys that scroll it
    <article className={styles.text} aria-label={title} tabIndex={0}>
      <p className={styles.since}>{texts.legal.since(since)}</p>
      <p className={styles.lead}>{lead}</p>
      {Object.entries(sections).map(([heading, paragraphs]) => (
        <section key={heading}>
          <h2 className={styles.heading}>{heading}</h2>
          {paragraphs.map((paragraph) => (
            <p key={paragraph}>{paragraph}</p>
          ))}
        </section>
      ))}
    </article>
  );
}
