import type { Lore, Meaning } from '../content/plot.ts';

/*
 * Answers of any speaker for which a story has no text of its own. Each sentence fits every place and hour.
 * `{speaker}` is the speaker, `{address}` the form of address; `{place}` and `{hour}` are the scene's.
 */

export const commonAnswers: Record<Meaning, string[]> = {
  你是谁: [
    '*{speaker}没有立刻答话，先看了看你的眼睛。* “名字{address}已经知道了，旁的，要看往后怎样待我。”',
    '“我是{speaker}。”*说完自己先笑了。* “这三个字听来轻，走到今天却不轻。”',
  ],
  你叫什么: [
    '*{speaker}把衣袖理了理，端端正正地答。* “{speaker}。{address}记住便好，不必写下来。”',
    '“人人都叫我{speaker}。”*语气里带一点笑。* “{address}也这样叫就是。”',
  ],
  这是哪里: [
    '*{speaker}往四下里指了指。* “这里是{place}。{address}跟紧些，便不会走错。”',
    '“{place}。”*{speaker}答得很平常。* “来过的人多，记得住路的人少。”',
  ],
  什么时候: [
    '*{speaker}抬头望了望天色。* “是{hour}了。要紧的事，赶得上。”',
    '“{hour}。”*{speaker}说。* “时候还够把话说完，{address}不用急。”',
  ],
  回家: [
    '*{speaker}点点头，神色里有些舍不得。* “想家是好事。只是眼下这一桩悬着，{address}走到半路也要回头的。”',
    '“路总是在的。”*{speaker}轻声说。* “{address}若放得下，我不拦。”',
  ],
  告别: [
    '*{speaker}把路让开，又忍不住叮嘱。* “走慢些。这里的事，等{address}回来再接着说。”',
    '“那便下回。”*{speaker}站着没动，一直看着你。*',
  ],
  害怕: [
    '*{speaker}走近一步，把声音放软了。* “怕便怕罢，怕又不丢人。{address}站到我身后来。”',
    '“我头一回也是怕的。”*{speaker}说。* “后来发觉，眼睛睁着比闭着好过些。”',
    '*{speaker}没有笑话你，只把手伸过来。* “若要喊，就喊出声。憋着更怕。”',
  ],
  加害: [
    '“我若要害{address}，不必等到你问。”*{speaker}直直望着你，没有躲开。*',
    '“问得好。”*{speaker}点了点头。* “换了我是{address}，也要先问这一句。”',
    '*{speaker}不曾着恼。* “信我多少，便防我多少，这样最公道。”',
  ],
  想不开: [
    '*书页合上了一半，边上有一行不属于故事的字：如果你真的想伤害自己，请先停下来，告诉身边的人，或者拨打全国心理援助热线 12356。已经受伤，或者有危险，请马上打 120 或 110。*\n\n*故事会等你。你好好的，比什么都要紧。*',
    '*那一行字还在：全国心理援助热线 12356；有危险，打 120 或 110。你不必一个人撑着，现在就找一个能陪你的人。*',
  ],
  安慰: [
    '*{speaker}怔了怔，慢慢把肩头松下来。* “许久没有人这样同我说话了。”',
    '“有{address}这一句，比什么都管用。”*{speaker}低声说，眼睛却望着别处。*',
  ],
  谢谢: [
    '*{speaker}摆摆手，倒有些不自在。* “这点事值什么，{address}别放在心上。”',
    '“谢字先存着。”*{speaker}笑了。* “事成了再说不迟。”',
  ],
  道歉: [
    '*{speaker}摇摇头。* “没有的事。{address}肯这样说，我心里反倒过意不去。”',
    '“我没有恼。”*{speaker}说得很认真。* “若恼了，脸上是藏不住的。”',
  ],
  不: [
    '*{speaker}看了你一会儿，点点头。* “不愿意便不愿意，我不勉强。”',
    '“也好。”*{speaker}并不意外。* “{address}心里有主意，我听着就是。”',
    '*{speaker}想了想，退让了一步。* “那换一样，{address}说个别的法子。”',
  ],
  好: [
    '*{speaker}的神色松快了些。* “有{address}这个字就够了。”',
    '“那就这样定了。”*{speaker}点点头。*',
    '*{speaker}应了一声，眼里有了笑意。*',
  ],
  问候: [
    '*{speaker}还了一礼。* “{address}好。来得正巧，话才开了个头。”',
    '“在呢。”*{speaker}应道。* “{address}有话只管说。”',
  ],
  喜欢: [
    '*{speaker}耳根红了红，半晌才接话。* “这样的话，{address}想清楚再说一遍，我才敢当真。”',
    '“我听见了。”*{speaker}垂下眼睛。* “先让我在心里放一放。”',
    '*{speaker}没有躲，也没有应，只轻轻叹了一声。* “{address}把心给得这样快，叫人怎么还。”',
  ],
  夸奖: [
    '*{speaker}被说得低下头去。* “{address}会说话，我却不会接。”',
    '“当不起。”*{speaker}笑着摇头，看得出是高兴的。*',
  ],
  我是谁: [
    '*{speaker}认真打量你。* “{address}是听见我说话还肯留下来的人。在我这里，这便够了。”',
    '“旁人怎样叫你，我不知道。”*{speaker}说。* “我只认得眼前这一个。”',
  ],
  看我: [
    '*{speaker}看了你一会儿。* “肯听人把话说完的人不多，{address}算一个。”',
    '“先前不知道，如今知道一点：{address}问话的时候，是真想听答案的。”*{speaker}说。*',
    '*{speaker}想了想才开口。* “嘴上的不算。{address}做过的几件事，我都看在眼里。”',
  ],
  为什么: [
    '*{speaker}沉默了片刻。* “这个缘故，说出来只有一句，走到那一句却要许多步。{address}同我走下去，便会明白。”',
    '“我也问过自己。”*{speaker}苦笑。* “问到后来，只剩下一个不忍心。”',
  ],
  怎么办: [
    '*{speaker}把眼前的事在心里过了一遍。* “法子总是人拿的。{address}先说，愿意冒哪一样险？”',
    '“急不来。”*{speaker}压低声音。* “先看清，再动手。”',
  ],
  吃喝: [
    '*{speaker}失笑。* “{address}倒是不亏待自己。等这一阵过去，我陪你好好吃一顿。”',
    '“这会儿拿不出什么像样的。”*{speaker}摊了摊手。* “先欠着{address}一顿。”',
  ],
  年纪: [
    '*{speaker}抿嘴一笑。* “这个可不好答。看着多大，便算多大罢。”',
    '“数过，数到后来记岔了。”*{speaker}说。* “横竖比{address}经的事多些。”',
  ],
  信任: [
    '*{speaker}看着你，眼神一点一点定下来。* “那我便不瞒{address}，有一说一。”',
    '“信字最重。”*{speaker}轻声道。* “我接住了，不敢摔。”',
  ],
  帮忙: [
    '*{speaker}眼里亮了一亮。* “{address}肯伸手，这事便成了一半。”',
    '“我先记下这份情。”*{speaker}说。* “该怎么做，等下由{address}拿主意。”',
  ],
  求救: [
    '*{speaker}朝你摇了摇头，示意你别出声。* “先别慌。慌了，路就窄了。”',
    '“喊没有用。”*{speaker}压低了声音。* “{address}定下心来，才看得见法子。”',
    '*{speaker}的目光一动，往你身后看了一眼。* “能救{address}的，眼下只有{address}自己这一句话。”',
  ],
  心意: [
    '*{speaker}愣了一下，别过脸去。* “这样的话，{address}问得出口，我却答不出口。”',
    '“若是半点没有，我早便走了。”*{speaker}说完，自己先静了一会儿。*',
    '*{speaker}低下头，把衣角理了又理。* “{address}自己看罢。看得出来的，便不必说。”',
  ],
  神色: [
    '*{speaker}怔了怔，抬手碰了碰自己的脸。* “没有什么。{address}看得太细了。”',
    '“叫{address}看出来了。”*{speaker}勉强笑了一笑。* “一会儿便好。”',
    '*{speaker}像是才回过神来。* “方才想到别处去了。{address}说到哪里了？”',
  ],
  请求: [
    '*{speaker}失笑，摇了摇头。* “眼下没有这份心思。先欠着，往后还{address}。”',
    '“{address}倒会挑时候。”*{speaker}看了你一眼，到底没有真恼。* “等这一桩过去，再说这个。”',
    '*{speaker}张了张口，又停住了。* “我做得不好，{address}要笑的。改日罢。”',
  ],
  能不能: [
    '*{speaker}斟酌了一下。* “能是能的，只怕{address}日后要后悔。”',
    '“这要看{address}舍得什么。”*{speaker}说。* “世上没有白来的方便。”',
    '*{speaker}没有点头，也没有摇头。* “先把眼前这一步走完，{address}再问我。”',
  ],
  说笑: [
    '*{speaker}也跟着笑了，笑完又看看你。* “{address}这一笑，倒叫人松了口气。”',
    '“有什么好笑？”*{speaker}板起脸，没有板住。*',
    '*{speaker}等你笑完，嘴角还弯着。* “笑够了？笑够了，便说正经的。”',
  ],
  诉苦: [
    '*{speaker}没有急着劝，只往你身边坐近了些。* “难受便难受一会儿，这里没有人催你。”',
    '“{address}肯说出来，便已经轻了三分。”*{speaker}说。* “剩下的，慢慢说给我听。”',
    '*{speaker}看了你好一会儿，声音放得很低。* “歇一歇罢。天大的事，也等人缓过这口气。”',
    '“怪不得你今日话少。”*{speaker}轻轻叹了口气。* “我在这里，你不必强撑着。”',
    '*{speaker}往你手边靠了靠。* “谁没有撑不住的时候。{address}先靠一靠，再往下走。”',
    '“我帮不上大忙。”*{speaker}说得很慢。* “坐着陪你，总还做得到。”',
  ],
  挽留: [
    '*{speaker}站住了，回过头来。* “我没有要走。{address}放心。”',
    '“好，再坐一会儿。”*{speaker}应得很快，像是一直在等这句话。*',
    '*{speaker}把脚步收了回来。* “{address}开了口，我便不急了。”',
    '“我在。”*{speaker}只答了两个字，却真的没有再动。*',
  ],
  没听清: [
    '“话说得急了。”*{speaker}放慢了些。* “都还写在前头，{address}回头看一眼便有。”',
    '*{speaker}往你这边凑近了些。* “方才的话，{address}哪一句没有听清？”',
    '“不妨事。”*{speaker}说。* “要紧的那几句，我往后还会提起。”',
  ],
  反驳: [
    '“{address}不这样看？”*{speaker}并不着恼。* “那一定是我漏看了什么。”',
    '*{speaker}没有争，只想了一想。* “各人站的地方不同，看见的也就不同。”',
    '“也许是我错了。”*{speaker}说。* “{address}说说看，对的该是怎样？”',
  ],
  威胁: [
    '*{speaker}没有退，也没有还手。* “{address}若真下得了手，便不会先说出来。”',
    '“要动手，也先听我把话说完。”*{speaker}望着你，声音并不高。*',
    '*{speaker}静了一静。* “这样重的话，{address}放下了再同我说。”',
  ],
  警觉: [
    '*{speaker}屏住气，侧着耳朵听了好一会儿。* “{address}耳朵灵。眼下倒没有动静了。”',
    '“别出声。”*{speaker}低低地说，等了片刻，才松了一口气。* “不是冲着我们来的。”',
    '*{speaker}四下里望了一圈。* “小心总不错。{address}离我近些。”',
  ],
  赠物: [
    '*{speaker}双手接了，看了又看。* “{address}给的，我好好收着。”',
    '“给我的？”*{speaker}愣了愣，才伸手来接。* “许久没有人想着我了。”',
    '*{speaker}先推了一推，到底没有推开。* “那我便领了{address}这份心。”',
  ],
  亲近: [
    '*{speaker}微微一怔，没有躲开。* “原来{address}这样暖。”',
    '*{speaker}静静由着你，好一会儿没有出声。*',
    '“叫人看见了，要笑的。”*{speaker}嘴上这样说，却没有动。*',
  ],
  心愿: [
    '“眼前这一段，能同{address}平平安安走完。”*{speaker}说。* “旁的，不敢多想。”',
    '*{speaker}认真想了想。* “想要的，多半都留不住。{address}呢，想要什么？”',
    '“说出来便不灵了。”*{speaker}笑了笑，把话收了回去。*',
  ],
  稍等: [
    '“不急。”*{speaker}果然停了下来。* “{address}想好了再说。”',
    '*{speaker}点点头，安安静静等着你。*',
    '“等得起。”*{speaker}答。* “{address}慢慢来。”',
  ],
  本事: [
    '“会一些，登不得台面。”*{speaker}说。* “往后有机会，{address}自己来评。”',
    '*{speaker}笑了。* “从前学过一点，如今手也生了，口也生了。”',
    '“会不会的，说了不算。”*{speaker}眨了眨眼。* “哪天叫{address}亲眼看见，才算。”',
  ],
  真假: [
    '*{speaker}迎着你的目光，没有躲。* “字字是真。{address}不信，只管看下去。”',
    '“我若要骗你，会说得更好听些。”*{speaker}淡淡一笑。*',
  ],
  记得: ['*{speaker}点点头。* “记得。该记的，我一样也没有丢。”', '“忘不了。”*{speaker}说得很轻，却没有迟疑。*'],
  是不是AI: [
    '*{speaker}听不懂这个词，愣了一愣。* “{address}说的是什么东西？我只是故事里的人，故事到哪里，我便到哪里。”',
    '“你问我是真是假？”*{speaker}想了想。* “故事里的话是真的，这便是我能答的了。”',
  ],
  用法: [
    '*书页边上有一行小字：可以说{lines}，也可以说自己的话。说‘重新开始’，便从头再走一遍。*',
    '*翻过一页，背面有人用淡墨写道：不知说什么时，试试{lines}。走到头有不同的结局。*',
    '*页脚的小字还在：往下的路，从{lines}里挑一句，或者另说一句。*',
  ],
  账户: [
    '*{speaker}没有听懂，倒是书页边上有一行小字：充值、消费明细、昵称头像和客服，都在‘我的’里；别的故事在‘发现’里。*',
    '*这一问不在故事里。页脚的小字写着：点数、个人资料和客服在‘我的’，换一个故事去‘发现’。*',
  ],
  按钮: [
    '*{speaker}没有听懂。书页边上有一行小字：字还在写的时候，按‘停止’便停；想往下看，按‘继续’。*',
    '*页脚的小字写着：停了的话，‘继续’接得上；想听另一样说法，按‘换一种说法’。*',
  ],
  改口: [
    '*{speaker}并不着恼。* “那一句便不算。{address}如今这样说，我照如今的记。”',
    '“方才的话，我当没有听过。”*{speaker}摆了摆手。*',
    '*{speaker}看了你一会儿，忽然笑了。* “改口的人，总比嘴硬的人好相处。”',
  ],
  选择: [
    '*{speaker}在两样之间想了想。* “后头那一样罢。”',
    '“要我挑，便是前一样。”*{speaker}答得很快。* “{address}呢？”',
    '*{speaker}反倒看着你。* “{address}先说出口的那一样，多半便是心里想的那一样。”',
    '“两样里头，我只要后一样。”*{speaker}说。*',
  ],
  吩咐: [
    '*{speaker}看了你一眼，没有问缘故，依了你。*',
    '“好。”*{speaker}应了一声，照你说的做了。*',
    '*{speaker}迟疑了一下，还是依了。* “{address}下回先说缘故。”',
    '“{address}使唤起人来，倒很顺口。”*{speaker}嘴上这样说，到底依了你。*',
  ],
  厌烦: [
    '*{speaker}收住话头，想了一想。* “那便说些新鲜的。”',
    '“{address}嫌我絮叨了。”*{speaker}并不着恼。* “好，往下走。”',
    '*{speaker}点点头。* “老话是不必再说了。”',
  ],
  自述: [
    '“先前没有听{address}说过。”*{speaker}点了点头。* “这一样，我记着。”',
    '*{speaker}重新打量了你一眼。* “{address}不说，我看不出来。”',
    '“{address}肯告诉我这个，便没有把我当外人。”*{speaker}说。*',
    '*{speaker}把这一句想了想。* “这样一说，有几桩事便对上了。”',
  ],
  骂人: [
    '*{speaker}收了笑，静静看着你，等那句话自己落下去。*',
    '*{speaker}转过身去，好一会儿才开口。* “这样的话，我当没有听见。{address}气消了再说。”',
    '“话不好听，我便不接。”*{speaker}神色淡淡的。* “{address}换一句。”',
    '*{speaker}没有作声。四下里一时只剩呼吸。*',
  ],
  胡话: [
    '*{speaker}侧着头听了半天，还是没有听明白。* “{address}再说一遍可好？”',
    '“这是哪一方的话？”*{speaker}一脸茫然。* “我一个字也没有听懂。”',
    '*{speaker}眨了眨眼。* “慢些说，慢些。”',
    '*{speaker}等着你往下说，等了一会儿才发觉已经说完了。*',
  ],
  其他: [
    '*{speaker}听得很仔细，末了轻轻点头。* “我明白{address}的意思了。”',
    '*{speaker}把这句话在心里转了一转。* “说得是，我先前没往这上头想。”',
    '“{address}说，我听着。”*{speaker}没有催，也没有打断。*',
    '*{speaker}抬眼看了看你，神色比方才柔和了些。*',
    '“这话我放在心上了。”*{speaker}答。*',
    '*{speaker}张了张口，又把话咽了回去，只笑了笑。*',
    '“{address}同旁人不大一样。”*{speaker}说着，往你这边挪近了半步。*',
    '*{speaker}低头想了一会儿。* “有些事，听人一说，忽然就轻了。”',
    '“嗯。”*{speaker}应了一声，像是替自己也替你应的。*',
    '*{speaker}的手指在袖口上捻了捻。* “{address}接着说，不要紧。”',
    '“原来{address}是这样看的。”*{speaker}若有所思。*',
    '*{speaker}望着你，好一会儿没有说话，却也没有移开眼睛。*',
    '“这我倒没有料到。”*{speaker}轻轻扬了扬眉。*',
    '*{speaker}怔了怔，随即摇头，像在笑自己。*',
    '“若人人都像{address}这样说话，世上的误会要少一半。”*{speaker}叹道。*',
    '*{speaker}整了整衣襟，坐得比方才端正些，是真在听了。*',
    '“容我想想。”*{speaker}说。* “急着答，倒辜负了这句话。”',
    '*{speaker}嘴角动了动。* “{address}这样讲，叫我一时不知怎样接。”',
  ],
};

/** Begins a list elsewhere for each speaker, so that two stories do not answer alike. */
export function rotate(texts: readonly string[], speaker: string): string[] {
  const at = [...speaker].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % texts.length;
  return [...texts.slice(at), ...texts.slice(0, at)];
}

/** Answers to a question that is not understood: about the speaker, a yes-or-no question, or any other. */
export const unsureAnswers = {
  you: [
    '*{speaker}沉吟了一下。* “我的事，一句话说不完。{address}往后慢慢看。”',
    '“{address}问到我心里去了。”*{speaker}轻轻摇头。* “容我想好了再答。”',
    '*{speaker}看着你，像在掂量能说多少。* “有些话，时候到了，不用问我也会说。”',
    '“若换了{address}是我，会怎样？”*{speaker}反问了一句，却没有等你答。*',
    '*{speaker}的目光移开，又移回来。* “这一样，{address}看我怎样做便知道了。”',
    '“从来没有人这样问过我。”*{speaker}说。* “所以我也没有想过该怎样答。”',
    '*{speaker}苦笑了一下。* “我若说得清，也不至于走到今天。”',
    '“一半是，一半不是。”*{speaker}说得很慢。* “哪一半是哪一半，我自己也还在分。”',
  ],
  whether: [
    '*{speaker}想了一会儿。* “多半是罢，作不得准。”',
    '“眼下看不出。”*{speaker}老实说。* “再往前走一步，便知道了。”',
    '*{speaker}沉吟片刻。* “说不准的事，我宁可不说。”',
    '“我盼着是。”*{speaker}低声道。* “可盼着的事，总不大作得准。”',
    '*{speaker}轻轻呼了口气。* “也许罢。{address}心里怎样想，多半便怎样成。”',
    '“没有试过。”*{speaker}答。* “没有试过的事，我不替它作保。”',
  ],
  other: [
    '*{speaker}想了许久。* “我只知道我知道的这一段。旁的，要{address}自己去看。”',
    '“我若晓得，早便说了。”*{speaker}的声音低下去。*',
    '*{speaker}把两手一摊。* “这一样，我真不知道。”',
    '“这里头的缘由，我也只听过一半。”*{speaker}说。* “另一半，怕要{address}去寻。”',
    '*{speaker}皱起眉，认真想了一回。* “讲不明白。讲错了，反倒误了{address}。”',
    '“谁知道呢。”*{speaker}轻轻说。* “兴许走着走着，它自己就明白了。”',
    '*{speaker}望着你，眼神有些为难。* “{address}问的，是我也想问的。”',
    '“先记着这一问。”*{speaker}说。* “到了后头，自有人来答。”',
  ],
};

/** What any speaker says where the story has no fact of its own. */
export const commonLore: Lore[] = [
  { subjects: ['你'], aspects: ['手里'], isCommon: true, text: '没有什么要紧的东西。' },
  { subjects: ['我'], aspects: ['生死'], isCommon: true, text: '活着呢。{address}自己摸摸手，热的。' },
  { subjects: ['你'], aspects: ['等'], isCommon: true, text: '等{address}一句话。' },
  { subjects: [''], aspects: ['在场'], isCommon: true, text: '就眼前这些人，{address}都看得见。' },
  { subjects: [''], aspects: ['天气'], isCommon: true, text: '{hour}的天，同{address}看见的一样。' },
];

/** How a speaker says a fact, `{fact}`: every second time without more. */
export const loreFrames: string[] = [
  '*{speaker}想了想。* “{fact}”',
  '“{fact}”*{speaker}说。*',
  '“{address}问这个？{fact}”',
  '*{speaker}看看你。* “{fact}”',
  '“说给{address}听也不妨。{fact}”',
  '“{fact}”*{speaker}望着别处。*',
  '“这个好答。{fact}”',
  '“{fact}”*{speaker}答得不快。*',
].flatMap((frame) => ['“{fact}”', frame]);

/** How a speaker says a fact once more. */
export const repeatedLoreFrames: string[] = [
  '“方才说过的。{fact}”',
  '*{speaker}也不嫌烦。* “{fact}”',
  '“再说一遍也是这样。{fact}”',
];

/** The text that the reader has read contains the answer, `{fact}`. Each frame is used once. */
export const recallFrames: string[] = [
  '话一出口，你自己先想起来了。{fact}',
  '*{speaker}没有接话，由着你自己往回想。* {fact}',
  '“{address}是亲身经过的。”*{speaker}等着你记起来。* {fact}',
];

/** The plot waits for the reader's choice. */
export const waitingLines: string[] = [
  '四下里静静的，谁也没有动。接下来怎样，全看你一句话。',
  '*{speaker}不再往下说了，只看着你，等你拿主意。*',
  '话说到这里，便停住了。往前的路不止一条，都要你先开口。',
  '*{speaker}把要说的都说了，余下的，该轮到你了。*',
  '你觉得该做决定了；再等下去，事情不会自己变好。',
  '*{speaker}轻轻咳了一声，像在提醒你，那件事还搁着。*',
  '片刻的沉默里，你把能走的几条路又在心里走了一遍。',
  '*{speaker}换了个站姿，目光没有离开你。* “{address}定了么？”',
  '“不必急。”*{speaker}说。* “只是这一步，我替不了{address}。”',
  '方才的那个问题，还悬在你同{speaker}之间，没有落下来。',
];

/** After an ending the reader can only restart or turn back. */
export const closedLines: string[] = [
  '这一回已经讲完，灯也熄了。',
  '书页合着，没有人应声。',
  '故事里的人已经散了，你的话落在空处。',
  '你等了一会儿。说书的人已经收了醒木。',
  '台上空空的，只剩下方才那个结局。',
  '再往下，便没有写了。',
];

export const endingOptions = '可以说“重新开始”，从头再走一遍；也可以说“换一种走向”，回到岔路口。';

export const restartNotice = '*灯芯重新拨亮，故事从头讲起。*';
export const noForkNotice = '*书页往回翻了翻。前头只有一条路，还没有走到岔口。*';
export const turnBackNotice = '*书页往回翻，停在那个岔路口。*';
