import { Card, ChevronDownIcon } from '@liaozhai/shared/ui';
import styles from './FaqList.module.css';
import type { QuestionGroup } from './supportQuestions';

/** Questions that open one by one; the browser's own search finds and opens closed ones. */
export function FaqList({ groups }: { groups: QuestionGroup[] }) {
  return groups.map((group) => (
    <section key={group.title} aria-label={group.title}>
      <h3 className={styles.group}>{group.title}</h3>
      <Card flush>
        {group.questions.map(({ question, answer }) => (
          <details key={question} className={styles.entry} name="faq">
            <summary className={styles.question}>
              {question}
              <ChevronDownIcon className={styles.chevron} size={18} />
            </summary>
            <p className={styles.answer}>{answer}</p>
          </details>
        ))}
      </Card>
    </section>
  ));
}
