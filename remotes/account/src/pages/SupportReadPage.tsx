import { hostConfig, paths, useGoBack } from '@liaozhai/shared/runtime';
import { TopBar } from '@liaozhai/shared/ui';
import { ContactCard } from '../components/ContactCard';
import { DiagnosticsCard } from '../components/DiagnosticsCard';
import { FaqList } from '../components/FaqList';
import { supportQuestions } from '../components/supportQuestions';
import { toProductRules } from '../model/productRules';
import { texts } from '../texts';
import styles from './SupportReadPage.module.css';

export default function SupportReadPage() {
  const goBack = useGoBack(paths.my());
  return (
    <>
      <TopBar title={texts.support.title} onBack={goBack} />
      <div className={styles.page}>
        <section className={styles.section} aria-label={texts.support.faq}>
          <h2 className={styles.title}>{texts.support.faq}</h2>
          <FaqList groups={supportQuestions(toProductRules(hostConfig().rules))} />
        </section>
        <section className={styles.section} aria-label={texts.support.contact}>
          <h2 className={styles.title}>{texts.support.contact}</h2>
          <ContactCard />
        </section>
        <section className={styles.section} aria-label={texts.support.diagnostics}>
          <h2 className={styles.title}>{texts.support.diagnostics}</h2>
          <DiagnosticsCard />
        </section>
      </div>
    </>
  );
}
