// Every word of the page in five languages. Labels of states and waits come from the server instead.
//
// Rule: each key has all five, in the order of LANGUAGES; `{name}` is filled in.

export const LANGUAGES = ["en", "de", "fr", "es", "ja"];

const TEXTS = {
  skip: ["Skip to the text box", "Zum Textfeld springen", "Aller au champ de texte", "Ir al cuadro de texto", "入力欄へ移動"],
  stage: ["State", "Zustand", "État", "Estado", "状態"],
  controls: ["Controls", "Bedienung", "Commandes", "Controles", "操作"],
  conversation: ["Conversation", "Gespräch", "Conversation", "Conversación", "会話"],
  transcript: ["Transcript", "Mitschrift", "Transcription", "Transcripción", "文字起こし"],
  notices: ["Messages", "Meldungen", "Messages", "Avisos", "お知らせ"],
  work: ["Work in progress", "Laufende Arbeit", "Travaux en cours", "Trabajo en curso", "進行中の作業"],
  you: ["You", "Sie", "Vous", "Tú", "あなた"],
  agent: ["Agent", "Agent", "Agent", "Agente", "エージェント"],
  start: ["Start talking", "Gespräch beginnen", "Commencer", "Empezar a hablar", "会話を始める"],
  again: ["Start again", "Neu beginnen", "Recommencer", "Empezar de nuevo", "もう一度始める"],
  starting: ["One moment", "Einen Moment", "Un instant", "Un momento", "お待ちください"],
  connecting: ["Connecting", "Wird verbunden", "Connexion", "Conectando", "接続中"],
  end: ["End", "Beenden", "Terminer", "Terminar", "終了"],
  mute: ["Mute", "Stumm", "Muet", "Silenciar", "ミュート"],
  unmute: ["Unmute", "Ton an", "Rétablir", "Activar", "解除"],
  pause: ["Pause", "Pause", "Pause", "Pausa", "一時停止"],
  resume: ["Go on", "Weiter", "Reprendre", "Seguir", "再開"],
  interrupt: ["Hush", "Stopp", "Stop", "Calla", "止める"],
  mode: ["How to talk", "Wie Sie sprechen", "Façon de parler", "Cómo hablar", "話し方"],
  handsFree: ["Hands-free", "Freisprechen", "Mains libres", "Manos libres", "ハンズフリー"],
  pushToTalk: ["Push to talk", "Sprechtaste", "Appuyer pour parler", "Pulsar para hablar", "押して話す"],
  hold: ["Hold to talk", "Zum Sprechen halten", "Maintenir pour parler", "Mantén para hablar", "押したまま話す"],
  holding: ["Release to send", "Loslassen zum Senden", "Relâcher pour envoyer", "Suelta para enviar", "離すと送信"],
  space: ["Space", "Leertaste", "Espace", "Espacio", "スペース"],
  level: ["Microphone level", "Mikrofonpegel", "Niveau du micro", "Nivel del micrófono", "マイクの音量"],
  typeLabel: ["Write a message", "Nachricht schreiben", "Écrire un message", "Escribe un mensaje", "メッセージを書く"],
  typeHere: ["Or write something…", "Oder schreiben Sie …", "Ou écrivez ici…", "O escribe algo…", "または入力してください…"],
  typeStart: ["Start, then speak or write", "Beginnen, dann sprechen oder schreiben", "Commencez, puis parlez ou écrivez", "Empieza y habla o escribe", "開始して、話すか入力してください"],
  send: ["Send", "Senden", "Envoyer", "Enviar", "送信"],
  typeInstead: ["Go on without a microphone", "Ohne Mikrofon weiter", "Continuer sans micro", "Seguir sin micrófono", "マイクなしで続ける"],
  tryMicrophone: ["Try the microphone again", "Mikrofon erneut versuchen", "Réessayer le micro", "Probar el micrófono otra vez", "マイクを再試行"],
  micAsking: ["Your browser asks for the microphone. Allow it, or go on in writing.", "Ihr Browser fragt nach dem Mikrofon. Erlauben Sie es, oder schreiben Sie.", "Votre navigateur demande le micro. Autorisez-le, ou écrivez.", "Tu navegador pide el micrófono. Permítelo, o escribe.", "ブラウザがマイクの許可を求めています。許可するか、文字で続けてください。"],
  micDenied: ["The microphone is blocked for this page. You can allow it in the address bar; until then, just write.", "Das Mikrofon ist für diese Seite gesperrt. Sie können es in der Adresszeile erlauben; bis dahin schreiben Sie einfach.", "Le micro est bloqué pour cette page. Autorisez-le dans la barre d'adresse ; en attendant, écrivez.", "El micrófono está bloqueado para esta página. Puedes permitirlo en la barra de direcciones; mientras tanto, escribe.", "このページではマイクがブロックされています。アドレスバーで許可できます。それまでは文字でどうぞ。"],
  micAbsent: ["No microphone was found. Plug one in, or just write.", "Es wurde kein Mikrofon gefunden. Schließen Sie eines an, oder schreiben Sie einfach.", "Aucun micro trouvé. Branchez-en un, ou écrivez.", "No se ha encontrado ningún micrófono. Conecta uno, o escribe.", "マイクが見つかりません。接続するか、文字でどうぞ。"],
  micInsecure: ["Browsers open the microphone on https or localhost only. Writing works here.", "Browser öffnen das Mikrofon nur über https oder localhost. Schreiben geht auch hier.", "Le micro ne s'ouvre qu'en https ou sur localhost. L'écrit fonctionne ici.", "El micrófono solo se abre con https o en localhost. Aquí puedes escribir.", "マイクは https か localhost でのみ使えます。ここでは文字が使えます。"],
  micFailed: ["The microphone could not be opened; another program may be using it. Writing works.", "Das Mikrofon ließ sich nicht öffnen; vielleicht nutzt es ein anderes Programm. Schreiben geht.", "Impossible d'ouvrir le micro ; un autre programme l'utilise peut-être. L'écrit fonctionne.", "No se pudo abrir el micrófono; quizá lo usa otro programa. Puedes escribir.", "マイクを開けませんでした。他のアプリが使用中かもしれません。文字は使えます。"],
  introTitle: ["A conversation, not a form", "Ein Gespräch, kein Formular", "Une conversation, pas un formulaire", "Una conversación, no un formulario", "フォームではなく、会話を"],
  introSpeak: ["Speak as you would to a person. Pauses are fine.", "Sprechen Sie wie mit einem Menschen. Pausen sind in Ordnung.", "Parlez comme à une personne. Les pauses ne gênent pas.", "Habla como con una persona. Las pausas no importan.", "人と話すように話してください。間があっても大丈夫です。"],
  introInterrupt: ["Interrupt whenever you like; what you did not hear is crossed out.", "Unterbrechen Sie jederzeit; was Sie nicht gehört haben, wird durchgestrichen.", "Interrompez quand vous voulez ; ce que vous n'avez pas entendu est barré.", "Interrumpe cuando quieras; lo que no oíste queda tachado.", "いつでも割り込めます。聞かなかった言葉には取り消し線が付きます。"],
  introType: ["Or write. Both work, and you can switch at any time.", "Oder schreiben Sie. Beides geht, jederzeit im Wechsel.", "Ou écrivez. Les deux fonctionnent, à tout moment.", "O escribe. Ambas cosas funcionan en todo momento.", "文字でも構いません。いつでも切り替えられます。"],
  hintListening: ["Go ahead, I'm listening", "Sprechen Sie, ich höre zu", "Allez-y, j'écoute", "Adelante, te escucho", "どうぞ、聞いています"],
  hintWrite: ["Write something below", "Schreiben Sie unten etwas", "Écrivez ci-dessous", "Escribe algo abajo", "下に入力してください"],
  hintPush: ["Hold the button or the space bar while you talk", "Halten Sie beim Sprechen die Taste oder die Leertaste", "Maintenez le bouton ou la barre d'espace en parlant", "Mantén el botón o la barra espaciadora al hablar", "話す間はボタンかスペースキーを押し続けてください"],
  hintHearing: ["I can hear you", "Ich höre Sie", "Je vous entends", "Te oigo", "聞こえています"],
  hintMuted: ["Your microphone is muted", "Ihr Mikrofon ist stumm", "Votre micro est coupé", "Tu micrófono está silenciado", "マイクはミュート中です"],
  hintSpeaking: ["You can interrupt at any time", "Sie können jederzeit unterbrechen", "Vous pouvez interrompre à tout moment", "Puedes interrumpir cuando quieras", "いつでも割り込めます"],
  hintSuspended: ["Nothing is heard or said until you go on", "Bis Sie weitermachen, wird nichts gehört oder gesagt", "Rien n'est entendu ni dit jusqu'à la reprise", "No se oye ni se dice nada hasta seguir", "再開するまで何も聞かず、話しません"],
  hintIdle: ["Nothing is recorded before you start", "Vor dem Start wird nichts aufgenommen", "Rien n'est enregistré avant de commencer", "Nada se graba antes de empezar", "開始するまで何も録音されません"],
  waitingFor: ["Waiting for {tool}", "Warte auf {tool}", "En attente de {tool}", "Esperando a {tool}", "{tool} を待っています"],
  notHeard: ["not heard:", "nicht gehört:", "non entendu :", "no oído:", "聞こえなかった部分："],
  overheard: ["overheard", "mitgehört", "entendu au passage", "oído de paso", "漏れ聞き"],
  interrupted: ["interrupted", "unterbrochen", "interrompu", "interrumpido", "中断"],
  reconnecting: ["The line was lost. Trying to come back…", "Die Verbindung ist weg. Ich versuche zurückzukommen …", "Connexion perdue. Nouvelle tentative…", "Se perdió la conexión. Intentando volver…", "接続が切れました。再接続しています…"],
  later: ["The server is busy. Trying again in a moment…", "Der Server ist ausgelastet. Gleich ein neuer Versuch …", "Le serveur est occupé. Nouvel essai dans un instant…", "El servidor está ocupado. Reintentando…", "サーバーが混雑しています。まもなく再試行します…"],
  lost: ["No connection came back. What was said is still here.", "Es kam keine Verbindung zustande. Das Gesagte ist noch hier.", "La connexion n'est pas revenue. Ce qui a été dit est toujours là.", "La conexión no volvió. Lo dicho sigue aquí.", "再接続できませんでした。会話の内容は残っています。"],
  retry: ["Try again", "Erneut versuchen", "Réessayer", "Reintentar", "再試行"],
  dismiss: ["Dismiss", "Schließen", "Fermer", "Cerrar", "閉じる"],
  restart: ["Start again", "Neu beginnen", "Recommencer", "Empezar de nuevo", "やり直す"],
  reload: ["Reload", "Neu laden", "Recharger", "Recargar", "再読み込み"],
  saveTranscript: ["Save the transcript", "Mitschrift sichern", "Enregistrer la transcription", "Guardar la transcripción", "文字起こしを保存"],
  elsewhere: ["This conversation is open in another tab", "Dieses Gespräch ist in einem anderen Tab offen", "Cette conversation est ouverte dans un autre onglet", "Esta conversación está abierta en otra pestaña", "この会話は別のタブで開いています"],
  elsewhereTaken: ["You went on in another tab", "Sie haben in einem anderen Tab weitergemacht", "Vous avez continué dans un autre onglet", "Seguiste en otra pestaña", "別のタブで続けられました"],
  useHere: ["Use it here", "Hier verwenden", "L'utiliser ici", "Usarla aquí", "ここで使う"],
  tokenWanted: ["This server wants a token", "Dieser Server verlangt ein Token", "Ce serveur demande un jeton", "Este servidor pide un token", "このサーバーにはトークンが必要です"],
  tokenHint: ["Open the address that the server printed, or paste its token.", "Öffnen Sie die Adresse, die der Server ausgegeben hat, oder fügen Sie das Token ein.", "Ouvrez l'adresse affichée par le serveur, ou collez son jeton.", "Abre la dirección que mostró el servidor, o pega su token.", "サーバーが表示したアドレスを開くか、トークンを貼り付けてください。"],
  token: ["Token", "Token", "Jeton", "Token", "トークン"],
  newerVersion: ["The server speaks a newer version", "Der Server spricht eine neuere Version", "Le serveur parle une version plus récente", "El servidor habla una versión más nueva", "サーバーのバージョンが新しくなっています"],
  refusedOrigin: ["The server does not accept this page", "Der Server nimmt diese Seite nicht an", "Le serveur n'accepte pas cette page", "El servidor no acepta esta página", "サーバーがこのページを受け付けません"],
  refusedMessage: ["The server did not understand this page", "Der Server hat diese Seite nicht verstanden", "Le serveur n'a pas compris cette page", "El servidor no entendió esta página", "サーバーがこのページを理解できませんでした"],
  tooLarge: ["A message was too large for the server", "Eine Nachricht war zu groß für den Server", "Un message était trop grand pour le serveur", "Un mensaje era demasiado grande para el servidor", "メッセージが大きすぎました"],
  soundBlocked: ["The browser keeps this page silent. Click or press any key to hear the agent.", "Der Browser hält diese Seite stumm. Klicken Sie oder drücken Sie eine Taste, um den Agenten zu hören.", "Le navigateur garde cette page muette. Cliquez ou appuyez sur une touche pour entendre.", "El navegador mantiene esta página en silencio. Haz clic o pulsa una tecla para oír.", "ブラウザが音を止めています。クリックするかキーを押すと聞こえます。"],
  endedHungUp: ["The conversation has ended", "Das Gespräch ist beendet", "La conversation est terminée", "La conversación ha terminado", "会話は終了しました"],
  endedGone: ["That conversation is over; it could not be picked up again", "Dieses Gespräch ist vorbei und ließ sich nicht fortsetzen", "Cette conversation est finie ; elle n'a pas pu être reprise", "Esa conversación terminó; no se pudo retomar", "その会話は終了しており、再開できませんでした"],
  cancel: ["Cancel", "Abbrechen", "Annuler", "Cancelar", "キャンセル"],
  answer: ["Answer", "Antworten", "Répondre", "Responder", "回答"],
  yourAnswer: ["Your answer", "Ihre Antwort", "Votre réponse", "Tu respuesta", "回答を入力"],
  silent: ["No sign of life for a while", "Seit einer Weile kein Lebenszeichen", "Aucun signe depuis un moment", "Sin señales desde hace un rato", "しばらく応答がありません"],
  done: ["Done", "Fertig", "Terminé", "Hecho", "完了"],
  failed: ["Failed", "Fehlgeschlagen", "Échec", "Falló", "失敗"],
  cancelled: ["Cancelled", "Abgebrochen", "Annulé", "Cancelado", "キャンセル済み"],
  timedOut: ["Took too long", "Hat zu lange gedauert", "Trop long", "Tardó demasiado", "時間切れ"],
  beside: ["in the background", "im Hintergrund", "en arrière-plan", "en segundo plano", "バックグラウンド"],
  asking: ["Asking now", "Wird gefragt", "Demandé maintenant", "Preguntando", "質問中"],
  confirmed: ["Confirmed", "Bestätigt", "Confirmé", "Confirmado", "確認済み"],
  empty: ["Not yet", "Noch offen", "Pas encore", "Todavía no", "未入力"],
  themeDark: ["Dark theme", "Dunkles Design", "Thème sombre", "Tema oscuro", "ダークテーマ"],
  themeLight: ["Light theme", "Helles Design", "Thème clair", "Tema claro", "ライトテーマ"],
  hood: ["Under the hood", "Unter der Haube", "Sous le capot", "Bajo el capó", "内部を見る"],
};

/** The language of the page: `?lang=`, else the first of the browser's that we have. */
export function chosenLanguage(address = location.href, wanted = navigator.languages ?? [navigator.language]) {
  const asked = new URL(address).searchParams.get("lang");
  const short = [asked, ...wanted].filter(Boolean).map((tag) => tag.split("-")[0].toLowerCase());
  return short.find((tag) => LANGUAGES.includes(tag)) ?? "en";
}

/** A function from keys to texts. */
export function textsIn(language) {
  const column = LANGUAGES.indexOf(language);
  return (key, values = {}) =>
    TEXTS[key][column].replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** Put the texts into the page's own markup. */
export function translate(root, text) {
  for (const element of root.querySelectorAll("[data-text]")) element.textContent = text(element.dataset.text);
  for (const element of root.querySelectorAll("[data-label]")) element.setAttribute("aria-label", text(element.dataset.label));
}
