import { Link, paths, useGoBack } from '@liaozhai/shared/runtime';
import { Card, ListRow, QueryView, TopBar } from '@liaozhai/shared/ui';
import { useSampleGetStoriesQuery } from '../api';
import { texts } from '../texts';
import styles from './SampleListPage.module.css';

export default function SampleListPage() {
  const stories = useSampleGetStoriesQuery();
  const goBack = useGoBack(paths.explore());
  return (
    <>
      <TopBar title={texts.list.title} onBack={goBack} />
      <div className={styles.page}>
        <QueryView query={stories} isEmpty={(list) => list.length === 0} empty={texts.list.empty}>
          {(list) => (
            <Card flush>
              {list.map((story) => (
                <ListRow
                  key={story.id}
                  title={story.title}
                  detail={story.summary}
                  asLink={<Link to={paths.story(story.id)} />}
                />
              ))}
            </Card>
          )}
        </QueryView>
      </div>
    </>
  );
}
