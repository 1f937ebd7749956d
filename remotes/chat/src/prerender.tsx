import { Button, EmptyState, Skeleton } from '@liaozhai/shared/ui';
import styles from './pages/ConversationListPage.module.css';
import { texts } from './texts';

/**
 * What 聊过 shows before the app, to everyone the same: the page's loader says who looks (`data-visitor`), and shows a guest the
 * invitation and a member the place of their list.
 */
export const contents = [
  {
    route: 'conversations',
    element: (
      <>
        <div className={styles.page} data-for="guest">
          <h1 className={styles.title}>{texts.list.title}</h1>
          <EmptyState drawing="moon" text={texts.list.guest} action={<Button>{texts.list.signIn}</Button>} />
        </div>
        <div className={styles.page} data-for="member">
          <div className={styles.head}>
            <h1 className={styles.conversationListTitle}>{texts.list.title}</h1>
          </div>
          <Skeleton shape="coverRow" label={texts.list.loading} />
        </div>
      </>
    ),
  },
];
