<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>Actions</name>
  <message>
   <source>1 star</source>
   <translation>1 Stern</translation>
  </message>
  <message>
   <source>2 stars</source>
   <translation>2 Sterne</translation>
  </message>
  <message>
   <source>3 stars</source>
   <translation>3 Sterne</translation>
  </message>
  <message>
   <source>4 stars</source>
   <translation>4 Sterne</translation>
  </message>
  <message>
   <source>5 stars</source>
   <translation>5 Sterne</translation>
  </message>
  <message>
   <source>A little less weight</source>
   <translation>Etwas weniger Gewicht</translation>
  </message>
  <message>
   <source>A little more weight</source>
   <translation>Etwas mehr Gewicht</translation>
  </message>
  <message>
   <source>A new seed for each picture</source>
   <translation>Neuer Seed für jedes Bild</translation>
  </message>
  <message>
   <source>Back to all pictures</source>
   <translation>Zurück zu allen Bildern</translation>
  </message>
  <message>
   <source>Brush</source>
   <translation>Pinsel</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>Cancel all</source>
   <translation>Alle abbrechen</translation>
  </message>
  <message>
   <source>Check for updates…</source>
   <translation>Nach Updates suchen…</translation>
  </message>
  <message>
   <source>Clear the mask</source>
   <translation>Maske leeren</translation>
  </message>
  <message>
   <source>Compare</source>
   <translation>Vergleichen</translation>
  </message>
  <message>
   <source>Compare with the start picture</source>
   <translation>Mit dem Ausgangsbild vergleichen</translation>
  </message>
  <message>
   <source>Copy path</source>
   <translation>Pfad kopieren</translation>
  </message>
  <message>
   <source>Copy picture</source>
   <translation>Bild kopieren</translation>
  </message>
  <message>
   <source>Copy settings as text</source>
   <translation>Einstellungen als Text kopieren</translation>
  </message>
  <message>
   <source>Devices…</source>
   <translation>Geräte…</translation>
  </message>
  <message>
   <source>Downloads…</source>
   <translation>Downloads…</translation>
  </message>
  <message>
   <source>Duplicate</source>
   <translation>Duplizieren</translation>
  </message>
  <message>
   <source>Earlier messages…</source>
   <translation>Frühere Meldungen…</translation>
  </message>
  <message>
   <source>Earlier prompts…</source>
   <translation>Frühere Prompts…</translation>
  </message>
  <message>
   <source>Edit in the form</source>
   <translation>Im Formular bearbeiten</translation>
  </message>
  <message>
   <source>Edit the prompt</source>
   <translation>Prompt bearbeiten</translation>
  </message>
  <message>
   <source>Eraser</source>
   <translation>Radierer</translation>
  </message>
  <message>
   <source>Favourite</source>
   <translation>Favorit</translation>
  </message>
  <message>
   <source>First picture</source>
   <translation>Erstes Bild</translation>
  </message>
  <message>
   <source>Fit into the window</source>
   <translation>Ins Fenster einpassen</translation>
  </message>
  <message>
   <source>Fold the form away</source>
   <translation>Formular einklappen</translation>
  </message>
  <message>
   <source>Folder above</source>
   <translation>Übergeordneter Ordner</translation>
  </message>
  <message>
   <source>Folder before</source>
   <translation>Voriger Ordner</translation>
  </message>
  <message>
   <source>Folders of pictures</source>
   <translation>Bilderordner</translation>
  </message>
  <message>
   <source>Forget</source>
   <translation>Vergessen</translation>
  </message>
  <message>
   <source>Full screen</source>
   <translation>Vollbild</translation>
  </message>
  <message>
   <source>Further down</source>
   <translation>Weiter nach unten</translation>
  </message>
  <message>
   <source>Further up</source>
   <translation>Weiter nach oben</translation>
  </message>
  <message>
   <source>Generate</source>
   <translation>Erzeugen</translation>
  </message>
  <message>
   <source>Generate before all others</source>
   <translation>Vor allen anderen erzeugen</translation>
  </message>
  <message>
   <source>Go to Create</source>
   <translation>Zu Erstellen gehen</translation>
  </message>
  <message>
   <source>Go to the gallery</source>
   <translation>Zur Galerie gehen</translation>
  </message>
  <message>
   <source>Go to the models</source>
   <translation>Zu den Modellen gehen</translation>
  </message>
  <message>
   <source>Go to the settings</source>
   <translation>Zu den Einstellungen gehen</translation>
  </message>
  <message>
   <source>Grow the canvas</source>
   <translation>Leinwand vergrößern</translation>
  </message>
  <message>
   <source>Invert the mask</source>
   <translation>Maske umkehren</translation>
  </message>
  <message>
   <source>Keep this seed</source>
   <translation>Diesen Seed behalten</translation>
  </message>
  <message>
   <source>Keyboard shortcuts</source>
   <translation>Tastenkürzel</translation>
  </message>
  <message>
   <source>Large, with the next picture beside a divider</source>
   <translation>Groß, mit dem nächsten Bild an einem Trenner</translation>
  </message>
  <message>
   <source>Larger brush</source>
   <translation>Größerer Pinsel</translation>
  </message>
  <message>
   <source>Larger thumbnails</source>
   <translation>Größere Vorschaubilder</translation>
  </message>
  <message>
   <source>Lasso</source>
   <translation>Lasso</translation>
  </message>
  <message>
   <source>Last picture</source>
   <translation>Letztes Bild</translation>
  </message>
  <message>
   <source>Less weight</source>
   <translation>Weniger Gewicht</translation>
  </message>
  <message>
   <source>List the folder again</source>
   <translation>Den Ordner neu auflisten</translation>
  </message>
  <message>
   <source>Make it earlier</source>
   <translation>Früher erzeugen</translation>
  </message>
  <message>
   <source>Make it later</source>
   <translation>Später erzeugen</translation>
  </message>
  <message>
   <source>Make it next</source>
   <translation>Als Nächstes erzeugen</translation>
  </message>
  <message>
   <source>More weight</source>
   <translation>Mehr Gewicht</translation>
  </message>
  <message>
   <source>Move all rejected to the trash</source>
   <translation>Alle abgelehnten in den Papierkorb legen</translation>
  </message>
  <message>
   <source>Move the picture by the mouse, while held</source>
   <translation>Bild mit der Maus verschieben, solange gedrückt</translation>
  </message>
  <message>
   <source>Move to trash</source>
   <translation>In den Papierkorb legen</translation>
  </message>
  <message>
   <source>Next colour of the mask</source>
   <translation>Nächste Farbe der Maske</translation>
  </message>
  <message>
   <source>No stars</source>
   <translation>Keine Sterne</translation>
  </message>
  <message>
   <source>Open a model or a picture…</source>
   <translation>Modell oder Bild öffnen…</translation>
  </message>
  <message>
   <source>Picture after</source>
   <translation>Nächstes Bild</translation>
  </message>
  <message>
   <source>Picture before</source>
   <translation>Voriges Bild</translation>
  </message>
  <message>
   <source>Presets…</source>
   <translation>Vorlagen…</translation>
  </message>
  <message>
   <source>Quit</source>
   <translation>Beenden</translation>
  </message>
  <message>
   <source>Read the folders again</source>
   <translation>Ordner neu lesen</translation>
  </message>
  <message>
   <source>Redo in the form</source>
   <translation>Im Formular wiederholen</translation>
  </message>
  <message>
   <source>Redo the stroke</source>
   <translation>Strich wiederholen</translation>
  </message>
  <message>
   <source>Redraw a part (mask)</source>
   <translation>Teil neu zeichnen (Maske)</translation>
  </message>
  <message>
   <source>Reject</source>
   <translation>Ablehnen</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Rename</source>
   <translation>Umbenennen</translation>
  </message>
  <message>
   <source>Runtimes…</source>
   <translation>Laufzeiten…</translation>
  </message>
  <message>
   <source>Save as a preset…</source>
   <translation>Als Vorlage speichern…</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>Suchen</translation>
  </message>
  <message>
   <source>Show at 100 %</source>
   <translation>Bei 100 % zeigen</translation>
  </message>
  <message>
   <source>Show how the picture was made</source>
   <translation>Zeigen, wie das Bild entstand</translation>
  </message>
  <message>
   <source>Show in file manager</source>
   <translation>Im Dateimanager zeigen</translation>
  </message>
  <message>
   <source>Show it large</source>
   <translation>Groß zeigen</translation>
  </message>
  <message>
   <source>Show the picture before it was upscaled</source>
   <translation>Das Bild vor der Vergrößerung zeigen</translation>
  </message>
  <message>
   <source>Show the queue</source>
   <translation>Warteschlange zeigen</translation>
  </message>
  <message>
   <source>Smaller brush</source>
   <translation>Kleinerer Pinsel</translation>
  </message>
  <message>
   <source>Smaller thumbnails</source>
   <translation>Kleinere Vorschaubilder</translation>
  </message>
  <message>
   <source>Start from a picture…</source>
   <translation>Von einem Bild ausgehen…</translation>
  </message>
  <message>
   <source>Start from this</source>
   <translation>Hiervon ausgehen</translation>
  </message>
  <message>
   <source>The next picture in the same place, while held</source>
   <translation>Das nächste Bild an derselben Stelle, solange gedrückt</translation>
  </message>
  <message>
   <source>The prompt after</source>
   <translation>Nächster Prompt</translation>
  </message>
  <message>
   <source>The prompt before</source>
   <translation>Voriger Prompt</translation>
  </message>
  <message>
   <source>The start picture, while held</source>
   <translation>Ausgangsbild, solange gedrückt</translation>
  </message>
  <message>
   <source>Try again</source>
   <translation>Noch einmal versuchen</translation>
  </message>
  <message>
   <source>Type a path</source>
   <translation>Einen Pfad eingeben</translation>
  </message>
  <message>
   <source>Undo in the form</source>
   <translation>Im Formular rückgängig machen</translation>
  </message>
  <message>
   <source>Undo the last change</source>
   <translation>Letzte Änderung rückgängig machen</translation>
  </message>
  <message>
   <source>Undo the stroke</source>
   <translation>Strich rückgängig machen</translation>
  </message>
  <message>
   <source>Upscale…</source>
   <translation>Vergrößern …</translation>
  </message>
  <message>
   <source>Use</source>
   <translation>Verwenden</translation>
  </message>
  <message>
   <source>Use all settings but the seed</source>
   <translation>Alle Einstellungen außer dem Seed verwenden</translation>
  </message>
  <message>
   <source>Use as a control picture</source>
   <translation>Als Steuerbild verwenden</translation>
  </message>
  <message>
   <source>Use as an image prompt</source>
   <translation>Als Bild-Prompt verwenden</translation>
  </message>
  <message>
   <source>Use everything, with the seed</source>
   <translation>Alles verwenden, mit dem Seed</translation>
  </message>
  <message>
   <source>Use the prompt only</source>
   <translation>Nur den Prompt verwenden</translation>
  </message>
  <message>
   <source>Use the seed only</source>
   <translation>Nur den Seed verwenden</translation>
  </message>
  <message>
   <source>Use, or use no longer</source>
   <translation>Verwenden oder nicht mehr verwenden</translation>
  </message>
  <message>
   <source>Zoom in</source>
   <translation>Vergrößern</translation>
  </message>
  <message>
   <source>Zoom out</source>
   <translation>Verkleinern</translation>
  </message>
 </context>
 <context>
  <name>AdvancedPanel</name>
  <message>
   <source>Advanced</source>
   <translation>Erweitert</translation>
  </message>
  <message>
   <source>Reset to model defaults</source>
   <translation>Auf die Vorgaben des Modells zurücksetzen</translation>
  </message>
  <message>
   <source>This model cannot do this, so it is left out: {settings}</source>
   <translation>Das kann dieses Modell nicht, deshalb wird es ausgelassen: {settings}</translation>
  </message>
 </context>
 <context>
  <name>AdvancedRows</name>
  <message>
   <source>Faster guidance</source>
   <translation>Schnellere Guidance</translation>
  </message>
  <message>
   <source>Guidance</source>
   <translation>Guidance</translation>
  </message>
  <message>
   <source>Guidance options</source>
   <translation>Guidance-Optionen</translation>
  </message>
  <message>
   <source>Guides only the first half of the steps, for much the same picture. The gain is measured while a picture is made so.</source>
   <translation>Führt nur in der ersten Hälfte der Schritte, für fast dasselbe Bild. Der Gewinn wird gemessen, während ein Bild so entsteht.</translation>
  </message>
  <message>
   <source>Parts and kind</source>
   <translation>Teile und Art</translation>
  </message>
  <message>
   <source>Sampler options</source>
   <translation>Sampler-Optionen</translation>
  </message>
  <message>
   <source>Seamless edges and FreeU</source>
   <translation>Nahtlose Ränder und FreeU</translation>
  </message>
  <message>
   <source>Sizes it is told</source>
   <translation>Größenangaben ans Modell</translation>
  </message>
  <message>
   <source>Steps</source>
   <translation>Schritte</translation>
  </message>
  <message>
   <source>This computer</source>
   <translation>Dieser Computer</translation>
  </message>
  <message>
   <source>Variations of a seed</source>
   <translation>Variationen eines Seeds</translation>
  </message>
 </context>
 <context>
  <name>Announcements</name>
  <message>
   <source>A picture from last time waits: the queue is paused.</source>
   <translation>Ein Bild vom letzten Mal wartet: Die Warteschlange ist angehalten.</translation>
  </message>
  <message>
   <source>Continuing a picture from last time.</source>
   <translation>Ein Bild vom letzten Mal wird fortgesetzt.</translation>
  </message>
  <message>
   <source>Continuing {n} pictures from last time.</source>
   <translation>{n} Bilder vom letzten Mal werden fortgesetzt.</translation>
  </message>
  <message>
   <source>It was started again.</source>
   <translation>Sie wurde wieder gestartet.</translation>
  </message>
  <message>
   <source>Not all LoRAs and embeddings are in this picture as its settings say.</source>
   <translation>Nicht alle LoRAs und Embeddings wirken in diesem Bild so, wie es seine Einstellungen sagen.</translation>
  </message>
  <message>
   <source>{n} pictures from last time wait: the queue is paused.</source>
   <translation>{n} Bilder vom letzten Mal warten: Die Warteschlange ist angehalten.</translation>
  </message>
  <message>
   <source>“Runtimes” can repair it; pictures are made without it.</source>
   <translation>„Laufzeiten“ kann es reparieren; Bilder entstehen auch ohne.</translation>
  </message>
 </context>
 <context>
  <name>BatchPanel</name>
  <message>
   <source>Picture {n} of {all}</source>
   <translation>Bild {n} von {all}</translation>
  </message>
  <message>
   <source>Picture {n} of {all}, being made</source>
   <translation>Bild {n} von {all}, entsteht</translation>
  </message>
  <message>
   <source>Picture {n} of {all}, failed</source>
   <translation>Bild {n} von {all}, fehlgeschlagen</translation>
  </message>
  <message>
   <source>Picture {n} of {all}, waiting</source>
   <translation>Bild {n} von {all}, wartet</translation>
  </message>
  <message>
   <source>Pictures of this batch</source>
   <translation>Bilder dieses Stapels</translation>
  </message>
 </context>
 <context>
  <name>Browser</name>
  <message>
   <source>Add a folder of pictures…</source>
   <translation>Bilderordner hinzufügen…</translation>
  </message>
  <message>
   <source>Clear the search</source>
   <translation>Suche leeren</translation>
  </message>
  <message>
   <source>Everything you make in Create appears by itself. Folders with pictures from other programs can be added, too; their files stay where they are.</source>
   <translation>Was in „Erstellen“ entsteht, erscheint von selbst. Auch Ordner mit Bildern anderer Programme lassen sich hinzufügen; ihre Dateien bleiben, wo sie sind.</translation>
  </message>
  <message>
   <source>Folders are being read. One on a network may take a while; everything else works meanwhile.</source>
   <translation>Ordner werden gelesen. Einer im Netzwerk braucht vielleicht eine Weile; alles andere geht währenddessen.</translation>
  </message>
  <message>
   <source>Looking for pictures…</source>
   <translation>Bilder werden gesucht…</translation>
  </message>
  <message>
   <source>No picture matches</source>
   <translation>Kein passendes Bild</translation>
  </message>
  <message>
   <source>Other words, or fewer filters, may find it.</source>
   <translation>Andere Wörter oder weniger Filter finden vielleicht eines.</translation>
  </message>
  <message>
   <source>Your pictures gather here</source>
   <translation>Hier sammeln sich Ihre Bilder</translation>
  </message>
 </context>
 <context>
  <name>CacheRow</name>
  <message>
   <source>Clear</source>
   <translation>Leeren</translation>
  </message>
  <message>
   <source>Clear what is kept for {name}</source>
   <translation>Gespeichertes für {name} löschen</translation>
  </message>
  <message>
   <source>Clears it, and prepares the model again now.</source>
   <translation>Löscht es und bereitet das Modell jetzt neu vor.</translation>
  </message>
  <message>
   <source>Make what is kept for {name} anew</source>
   <translation>Gespeichertes für {name} neu erstellen</translation>
  </message>
  <message>
   <source>Preparing… {n} %</source>
   <translation>Vorbereitung … {n} %</translation>
  </message>
  <message>
   <source>Rebuild</source>
   <translation>Neu erstellen</translation>
  </message>
 </context>
 <context>
  <name>CacheTable</name>
  <message>
   <source>Clear all</source>
   <translation>Alles leeren</translation>
  </message>
  <message>
   <source>Looking at what is kept…</source>
   <translation>Gespeichertes wird ermittelt…</translation>
  </message>
  <message>
   <source>Nothing is kept.</source>
   <translation>Nichts ist gespeichert.</translation>
  </message>
  <message>
   <source>{size} in all: models prepared for this computer, and what they made of the last prompts. What is cleared is made again when it is needed.</source>
   <translation>Insgesamt {size}: für diesen Computer vorbereitete Modelle und was sie aus den letzten Prompts gemacht haben. Gelöschtes wird neu erstellt, wenn es gebraucht wird.</translation>
  </message>
 </context>
 <context>
  <name>CanvasCorner</name>
  <message>
   <source>Back to all pictures of the batch</source>
   <translation>Zurück zu allen Bildern des Stapels</translation>
  </message>
  <message>
   <source>Esc</source>
   <translation>Esc</translation>
  </message>
  <message>
   <source>Show the start picture while this is held</source>
   <translation>Ausgangsbild zeigen, solange gedrückt</translation>
  </message>
  <message>
   <source>Take the map off the picture</source>
   <translation>Die Karte vom Bild nehmen</translation>
  </message>
 </context>
 <context>
  <name>CheckpointDialog</name>
  <message>
   <source>About the model</source>
   <translation>Über das Modell</translation>
  </message>
  <message>
   <source>Auto-detect</source>
   <translation>Automatisch erkennen</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Family</source>
   <translation>Familie</translation>
  </message>
  <message>
   <source>Files do not always say what they are. If pictures come out as noise or washed out, say it here; it is remembered for this model.</source>
   <translation>Dateien sagen nicht immer, was sie sind. Werden Bilder zu Rauschen oder blass, lässt es sich hier angeben; für dieses Modell bleibt es gemerkt.</translation>
  </message>
  <message>
   <source>Made from</source>
   <translation>Entstanden aus</translation>
  </message>
  <message>
   <source>Notes</source>
   <translation>Notizen</translation>
  </message>
  <message>
   <source>Picture</source>
   <translation>Bild</translation>
  </message>
  <message>
   <source>Prediction</source>
   <translation>Vorhersage</translation>
  </message>
  <message>
   <source>Reading the model…</source>
   <translation>Das Modell wird gelesen…</translation>
  </message>
  <message>
   <source>SHA-256</source>
   <translation>SHA-256</translation>
  </message>
  <message>
   <source>Title</source>
   <translation>Titel</translation>
  </message>
  <message>
   <source>Trained words</source>
   <translation>Trainierte Wörter</translation>
  </message>
  <message>
   <source>What is known of it</source>
   <translation>Was darüber bekannt ist</translation>
  </message>
  <message>
   <source>Why</source>
   <translation>Warum</translation>
  </message>
  <message>
   <source>missing</source>
   <translation>fehlt</translation>
  </message>
 </context>
 <context>
  <name>CheckpointItemModel</name>
  <message>
   <source>{name} (missing)</source>
   <translation>{name} (fehlt)</translation>
  </message>
 </context>
 <context>
  <name>CheckpointPanel</name>
  <message>
   <source>About the model…</source>
   <translation>Über das Modell…</translation>
  </message>
  <message>
   <source>Find it…</source>
   <translation>Suchen…</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>Open a file…</source>
   <translation>Datei öffnen…</translation>
  </message>
  <message>
   <source>Reading the model…</source>
   <translation>Das Modell wird gelesen…</translation>
  </message>
  <message>
   <source>Use the starter</source>
   <translation>Startmodell verwenden</translation>
  </message>
 </context>
 <context>
  <name>ChoicePopup</name>
  <message>
   <source>Nothing has these words.</source>
   <translation>Nichts enthält diese Wörter.</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>Suchen</translation>
  </message>
  <message>
   <source>Type to search</source>
   <translation>Tippen zum Suchen</translation>
  </message>
 </context>
 <context>
  <name>Comparison</name>
  <message>
   <source>All else is the same.</source>
   <translation>Alles andere ist gleich.</translation>
  </message>
  <message>
   <source>All settings are the same.</source>
   <translation>Alle Einstellungen sind gleich.</translation>
  </message>
  <message>
   <source>Back to all pictures</source>
   <translation>Zurück zu allen Bildern</translation>
  </message>
  <message>
   <source>Esc</source>
   <translation>Esc</translation>
  </message>
  <message>
   <source>Show one picture large, with the next beside a divider</source>
   <translation>Ein Bild groß zeigen, mit dem nächsten an einem Trenner</translation>
  </message>
  <message>
   <source>Show the next picture in this place while held</source>
   <translation>Das nächste Bild an dieser Stelle zeigen, solange gedrückt</translation>
  </message>
 </context>
 <context>
  <name>CompletionList</name>
  <message>
   <source>LoRA</source>
   <translation>LoRA</translation>
  </message>
  <message>
   <source>Names that fit</source>
   <translation>Passende Namen</translation>
  </message>
  <message>
   <source>embedding</source>
   <translation>Embedding</translation>
  </message>
  <message>
   <source>file</source>
   <translation>Datei</translation>
  </message>
  <message>
   <source>folder</source>
   <translation>Ordner</translation>
  </message>
  <message>
   <source>list of words</source>
   <translation>Wortliste</translation>
  </message>
 </context>
 <context>
  <name>ControlCard</name>
  <message>
   <source>For other networks</source>
   <translation>Für andere Netze</translation>
  </message>
  <message>
   <source>Found by name</source>
   <translation>Am Namen gefunden</translation>
  </message>
  <message>
   <source>Its weights</source>
   <translation>Ihre Gewichte</translation>
  </message>
  <message>
   <source>Making the map…</source>
   <translation>Die Karte entsteht…</translation>
  </message>
  <message>
   <source>Map</source>
   <translation>Karte</translation>
  </message>
  <message>
   <source>Map by</source>
   <translation>Karte durch</translation>
  </message>
  <message>
   <source>More</source>
   <translation>Mehr</translation>
  </message>
  <message>
   <source>Network</source>
   <translation>Netz</translation>
  </message>
  <message>
   <source>No map</source>
   <translation>Keine Karte</translation>
  </message>
  <message>
   <source>Show the map of {name} over the canvas</source>
   <translation>Die Karte von {name} über der Leinwand zeigen</translation>
  </message>
 </context>
 <context>
  <name>ControlMore</name>
  <message>
   <source>A map of the picture's size</source>
   <translation>Eine Karte in der Größe des Bildes</translation>
  </message>
  <message>
   <source>Balance</source>
   <translation>Gewichtung</translation>
  </message>
  <message>
   <source>Its resolution follows from the picture (pixel perfect).</source>
   <translation>Ihre Auflösung folgt aus dem Bild (pixelgenau).</translation>
  </message>
  <message>
   <source>Kind of map</source>
   <translation>Art der Karte</translation>
  </message>
  <message>
   <source>Only within</source>
   <translation>Nur innerhalb</translation>
  </message>
  <message>
   <source>Shape</source>
   <translation>Form</translation>
  </message>
  <message>
   <source>The whole picture</source>
   <translation>Das ganze Bild</translation>
  </message>
 </context>
 <context>
  <name>DeclarationPanel</name>
  <message>
   <source>A trace of the picture is in the first step.</source>
   <translation>Im ersten Schritt ist eine Spur des Bildes.</translation>
  </message>
  <message>
   <source>Family</source>
   <translation>Familie</translation>
  </message>
  <message>
   <source>Noise levels</source>
   <translation>Rauschstufen</translation>
  </message>
  <message>
   <source>Prediction</source>
   <translation>Vorhersage</translation>
  </message>
  <message>
   <source>Standard</source>
   <translation>Standard</translation>
  </message>
  <message>
   <source>The first step starts from pure noise: most v models were trained so.</source>
   <translation>Der erste Schritt beginnt mit reinem Rauschen: So wurden die meisten v-Modelle trainiert.</translation>
  </message>
  <message>
   <source>Variant</source>
   <translation>Variante</translation>
  </message>
  <message>
   <source>Zero-terminal SNR</source>
   <translation>Zero Terminal SNR</translation>
  </message>
 </context>
 <context>
  <name>DetailsPanel</name>
  <message>
   <source>Back to the form</source>
   <translation>Zurück zum Formular</translation>
  </message>
 </context>
 <context>
  <name>DeviceButton</name>
  <message>
   <source>Checking your hardware, once…</source>
   <translation>Die Hardware wird einmalig geprüft…</translation>
  </message>
  <message>
   <source>Devices…</source>
   <translation>Geräte…</translation>
  </message>
  <message>
   <source>Pictures can be made meanwhile.</source>
   <translation>Bilder können inzwischen entstehen.</translation>
  </message>
 </context>
 <context>
  <name>DeviceChoice</name>
  <message>
   <source>Auto · {name}</source>
   <translation>Auto · {name}</translation>
  </message>
  <message>
   <source>Device</source>
   <translation>Gerät</translation>
  </message>
  <message>
   <source>The fastest device with correct results.</source>
   <translation>Das schnellste Gerät mit richtigen Ergebnissen.</translation>
  </message>
  <message>
   <source>What computes the pictures; Auto is the fastest.</source>
   <translation>Was die Bilder berechnet; Auto ist das schnellste.</translation>
  </message>
  <message>
   <source>{name} (not found)</source>
   <translation>{name} (nicht gefunden)</translation>
  </message>
 </context>
 <context>
  <name>DeviceDialog</name>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Devices</source>
   <translation>Geräte</translation>
  </message>
 </context>
 <context>
  <name>DevicesSection</name>
  <message>
   <source>All runtimes ({n})</source>
   <translation>Alle Laufzeiten ({n})</translation>
  </message>
  <message>
   <source>Check again</source>
   <translation>Noch einmal prüfen</translation>
  </message>
  <message>
   <source>Checking…</source>
   <translation>Wird geprüft…</translation>
  </message>
  <message>
   <source>Every runtime that suits this computer is installed.</source>
   <translation>Jede Laufzeit, die zu diesem Computer passt, ist installiert.</translation>
  </message>
  <message>
   <source>Hide all runtimes</source>
   <translation>Alle Laufzeiten ausblenden</translation>
  </message>
  <message>
   <source>How long a picture takes</source>
   <translation>Wie lange ein Bild dauert</translation>
  </message>
  <message>
   <source>Kept on the disk to be quicker</source>
   <translation>Auf dem Datenträger gespeichert, damit es schneller geht</translation>
  </message>
  <message>
   <source>Looking at your hardware…</source>
   <translation>Die Hardware wird ermittelt…</translation>
  </message>
  <message>
   <source>Memory of the next picture</source>
   <translation>Speicher des nächsten Bildes</translation>
  </message>
  <message>
   <source>Runtimes…</source>
   <translation>Laufzeiten…</translation>
  </message>
  <message>
   <source>SDXL, 1024 px, 20 steps</source>
   <translation>SDXL, 1024 px, 20 Schritte</translation>
  </message>
  <message>
   <source>Stable Diffusion 1.5, 512 px, 20 steps</source>
   <translation>Stable Diffusion 1.5, 512 px, 20 Schritte</translation>
  </message>
  <message>
   <source>That is known once the hardware has been checked.</source>
   <translation>Das ist bekannt, sobald die Hardware geprüft ist.</translation>
  </message>
  <message>
   <source>The next picture, as the form is now</source>
   <translation>Das nächste Bild nach dem jetzigen Formular</translation>
  </message>
  <message>
   <source>What would make it faster</source>
   <translation>Was es schneller machen würde</translation>
  </message>
  <message>
   <source>{name}: about {time}</source>
   <translation>{name}: etwa {time}</translation>
  </message>
  <message>
   <source>{name}: about {time}, measured while the computer was busy</source>
   <translation>{name}: etwa {time}, gemessen, während der Computer beschäftigt war</translation>
  </message>
  <message>
   <source>{title} can be installed. {purpose}</source>
   <translation>{title} kann installiert werden. {purpose}</translation>
  </message>
 </context>
 <context>
  <name>Dock</name>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>Make pictures</source>
   <translation>Bilder erzeugen</translation>
  </message>
  <message>
   <source>Pictures</source>
   <translation>Bilder</translation>
  </message>
 </context>
 <context>
  <name>DownloadRow</name>
  <message>
   <source>Continue {title}</source>
   <translation>{title} fortsetzen</translation>
  </message>
  <message>
   <source>From {hosts}</source>
   <translation>Von {hosts}</translation>
  </message>
  <message>
   <source>Pause {title}</source>
   <translation>{title} anhalten</translation>
  </message>
  <message>
   <source>Progress of {title}</source>
   <translation>Fortschritt von {title}</translation>
  </message>
  <message>
   <source>Remove {title} from the list</source>
   <translation>{title} aus der Liste entfernen</translation>
  </message>
 </context>
 <context>
  <name>DownloadsDialog</name>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Downloads</source>
   <translation>Downloads</translation>
  </message>
  <message>
   <source>Nothing is being downloaded. Safelight downloads only what you ask for.</source>
   <translation>Nichts wird heruntergeladen. Safelight lädt nur herunter, was verlangt wird.</translation>
  </message>
 </context>
 <context>
  <name>Drops</name>
  <message>
   <source>A picture that says what words do not.</source>
   <translation>Ein Bild, das sagt, was Worte nicht sagen.</translation>
  </message>
  <message>
   <source>Add this LoRA</source>
   <translation>Diese LoRA hinzufügen</translation>
  </message>
  <message>
   <source>Add this embedding</source>
   <translation>Dieses Embedding hinzufügen</translation>
  </message>
  <message>
   <source>As what it is: a model, a LoRA, a ControlNet, an upscaler.</source>
   <translation>Als das, was es ist: Modell, LoRA, ControlNet oder Upscaler.</translation>
  </message>
  <message>
   <source>How it was made, whichever program made it.</source>
   <translation>Wie es entstand, gleich in welchem Programm.</translation>
  </message>
  <message>
   <source>It follows a picture that you choose.</source>
   <translation>Es folgt einem Bild, das Sie wählen.</translation>
  </message>
  <message>
   <source>It is changed or combined as the prompt says.</source>
   <translation>Es wird geändert oder kombiniert, wie der Prompt es sagt.</translation>
  </message>
  <message>
   <source>It is copied to yours, and the prompt names it.</source>
   <translation>Es wird zu Ihren kopiert, und der Prompt nennt es.</translation>
  </message>
  <message>
   <source>It is redrawn, all of it or a part.</source>
   <translation>Es wird neu gezeichnet, ganz oder teilweise.</translation>
  </message>
  <message>
   <source>It is used where it lies.</source>
   <translation>Es wird dort verwendet, wo es liegt.</translation>
  </message>
  <message>
   <source>Its lines, depth or pose are followed.</source>
   <translation>Seinen Linien, seiner Tiefe oder Pose wird gefolgt.</translation>
  </message>
  <message>
   <source>Look for models in it</source>
   <translation>Modelle darin suchen</translation>
  </message>
  <message>
   <source>Open</source>
   <translation>Öffnen</translation>
  </message>
  <message>
   <source>Show its pictures</source>
   <translation>Die Bilder darin zeigen</translation>
  </message>
  <message>
   <source>Start from it</source>
   <translation>Davon ausgehen</translation>
  </message>
  <message>
   <source>The folder joins those of the Gallery.</source>
   <translation>Der Ordner kommt zu denen der Galerie.</translation>
  </message>
  <message>
   <source>They are used where they lie.</source>
   <translation>Sie werden dort verwendet, wo sie liegen.</translation>
  </message>
  <message>
   <source>This file cannot be used</source>
   <translation>Diese Datei ist nicht verwendbar</translation>
  </message>
  <message>
   <source>Use as a control picture</source>
   <translation>Als Steuerbild verwenden</translation>
  </message>
  <message>
   <source>Use as a reference picture</source>
   <translation>Als Referenzbild verwenden</translation>
  </message>
  <message>
   <source>Use as an image prompt</source>
   <translation>Als Bild-Prompt verwenden</translation>
  </message>
  <message>
   <source>Use its settings</source>
   <translation>Seine Einstellungen verwenden</translation>
  </message>
  <message>
   <source>Use this ControlNet</source>
   <translation>Dieses ControlNet verwenden</translation>
  </message>
  <message>
   <source>Use this VAE</source>
   <translation>Diese VAE verwenden</translation>
  </message>
  <message>
   <source>Use this file</source>
   <translation>Diese Datei verwenden</translation>
  </message>
  <message>
   <source>Use this model</source>
   <translation>Dieses Modell verwenden</translation>
  </message>
  <message>
   <source>With the model that is chosen.</source>
   <translation>Mit dem gewählten Modell.</translation>
  </message>
 </context>
 <context>
  <name>EmbeddingCommands</name>
  <message>
   <source>{name} is removed.</source>
   <translation>{name} ist entfernt.</translation>
  </message>
 </context>
 <context>
  <name>EmbeddingDialog</name>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Embeddings</source>
   <translation>Embeddings</translation>
  </message>
  <message>
   <source>Into the negative</source>
   <translation>In den negativen</translation>
  </message>
  <message>
   <source>Into the prompt</source>
   <translation>In den Prompt</translation>
  </message>
  <message>
   <source>Name or model</source>
   <translation>Name oder Modell</translation>
  </message>
  <message>
   <source>No embedding has these words.</source>
   <translation>Kein Embedding enthält diese Wörter.</translation>
  </message>
  <message>
   <source>Out of the negative</source>
   <translation>Aus dem negativen</translation>
  </message>
  <message>
   <source>Out of the prompt</source>
   <translation>Aus dem Prompt</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>Suchen</translation>
  </message>
 </context>
 <context>
  <name>EmbeddingItemModel</name>
  <message>
   <source>trained on {model}</source>
   <translation>trainiert auf {model}</translation>
  </message>
 </context>
 <context>
  <name>EmbeddingPanel</name>
  <message>
   <source>Add an embedding…</source>
   <translation>Embedding hinzufügen …</translation>
  </message>
  <message>
   <source>Embedding: add a learned word…</source>
   <translation>Embedding: ein gelerntes Wort hinzufügen …</translation>
  </message>
  <message>
   <source>Embeddings</source>
   <translation>Embeddings</translation>
  </message>
 </context>
 <context>
  <name>EmbeddingRowPanel</name>
  <message>
   <source>Double-click for 1</source>
   <translation>Doppelklick für 1</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Strength</source>
   <translation>Stärke</translation>
  </message>
  <message>
   <source>Strength, slider</source>
   <translation>Stärke, Regler</translation>
  </message>
  <message>
   <source>Use as negative</source>
   <translation>Als negativ verwenden</translation>
  </message>
  <message>
   <source>Use in the prompt</source>
   <translation>Im Prompt verwenden</translation>
  </message>
  <message>
   <source>in the negative prompt</source>
   <translation>im negativen Prompt</translation>
  </message>
  <message>
   <source>in the prompt</source>
   <translation>im Prompt</translation>
  </message>
 </context>
 <context>
  <name>FactRow</name>
  <message>
   <source>Copy: {name}</source>
   <translation>Kopieren: {name}</translation>
  </message>
  <message>
   <source>Show all {n} characters</source>
   <translation>Alle {n} Zeichen zeigen</translation>
  </message>
 </context>
 <context>
  <name>FieldRow</name>
  <message>
   <source>{name}, first number</source>
   <translation>{name}, erste Zahl</translation>
  </message>
  <message>
   <source>{name}, second number</source>
   <translation>{name}, zweite Zahl</translation>
  </message>
 </context>
 <context>
  <name>FileChoice</name>
  <message>
   <source>Choose a file…</source>
   <translation>Eine Datei wählen…</translation>
  </message>
  <message>
   <source>Elsewhere</source>
   <translation>Anderswo</translation>
  </message>
 </context>
 <context>
  <name>FileDialog</name>
  <message>
   <source>Back</source>
   <translation>Zurück</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>Choose {name}</source>
   <translation>{name} wählen</translation>
  </message>
  <message>
   <source>Files and folders</source>
   <translation>Dateien und Ordner</translation>
  </message>
  <message>
   <source>Kind of files</source>
   <translation>Art der Dateien</translation>
  </message>
  <message>
   <source>Looking into the folder…</source>
   <translation>Der Ordner wird gelesen…</translation>
  </message>
  <message>
   <source>Make this folder</source>
   <translation>Diesen Ordner anlegen</translation>
  </message>
  <message>
   <source>Name</source>
   <translation>Name</translation>
  </message>
  <message>
   <source>Nothing here has these words in its name.</source>
   <translation>Hier enthält kein Name diese Wörter.</translation>
  </message>
  <message>
   <source>Open</source>
   <translation>Öffnen</translation>
  </message>
  <message>
   <source>Path</source>
   <translation>Pfad</translation>
  </message>
  <message>
   <source>Replace</source>
   <translation>Ersetzen</translation>
  </message>
  <message>
   <source>Save</source>
   <translation>Speichern</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>Suchen</translation>
  </message>
  <message>
   <source>Search in this folder</source>
   <translation>In diesem Ordner suchen</translation>
  </message>
  <message>
   <source>The folder cannot be made: {reason}.</source>
   <translation>Der Ordner kann nicht angelegt werden: {reason}.</translation>
  </message>
  <message>
   <source>The folder cannot be read: {reason}.</source>
   <translation>Der Ordner kann nicht gelesen werden: {reason}.</translation>
  </message>
  <message>
   <source>There are no files of this kind in this folder.</source>
   <translation>In diesem Ordner sind keine Dateien dieser Art.</translation>
  </message>
  <message>
   <source>There are no folders in this one.</source>
   <translation>In diesem Ordner sind keine Ordner.</translation>
  </message>
  <message>
   <source>There is nothing at this place.</source>
   <translation>An dieser Stelle ist nichts.</translation>
  </message>
  <message>
   <source>To the folder above</source>
   <translation>Zum übergeordneten Ordner</translation>
  </message>
 </context>
 <context>
  <name>FileNameField</name>
  <message>
   <source>A name is needed. Until then the names stay as before.</source>
   <translation>Ein Name ist nötig. Bis dahin bleiben die Namen wie zuvor.</translation>
  </message>
  <message>
   <source>As {name}</source>
   <translation>Wie {name}</translation>
  </message>
  <message>
   <source>File names</source>
   <translation>Dateinamen</translation>
  </message>
  <message>
   <source>Insert {placeholder}</source>
   <translation>{placeholder} einfügen</translation>
  </message>
  <message>
   <source>This is too long.</source>
   <translation>Das ist zu lang.</translation>
  </message>
  <message>
   <source>Use the usual names</source>
   <translation>Die üblichen Namen verwenden</translation>
  </message>
  <message>
   <source>{name} stands for nothing. Use one of the words below.</source>
   <translation>{name} steht für nichts. Eines der Wörter unten verwenden.</translation>
  </message>
 </context>
 <context>
  <name>FirstCard</name>
  <message>
   <source>Larger than is comfortable in this computer's memory.</source>
   <translation>Größer, als für den Speicher dieses Computers ratsam ist.</translation>
  </message>
  <message>
   <source>Look it up</source>
   <translation>Nachschlagen</translation>
  </message>
  <message>
   <source>Look up {title}</source>
   <translation>{title} nachschlagen</translation>
  </message>
  <message>
   <source>about {size}</source>
   <translation>etwa {size}</translation>
  </message>
  <message>
   <source>about {time} per picture here</source>
   <translation>hier etwa {time} je Bild</translation>
  </message>
 </context>
 <context>
  <name>FirstFolders</name>
  <message>
   <source>Choose a folder…</source>
   <translation>Ordner wählen…</translation>
  </message>
 </context>
 <context>
  <name>FirstOffer</name>
  <message>
   <source>Full models draw people, animals and places in any style, but this computer has little room for one.</source>
   <translation>Große Modelle zeichnen Menschen, Tiere und Orte in jedem Stil, doch für eines hat dieser Computer wenig Platz.</translation>
  </message>
  <message>
   <source>Full models draw people, animals and places in any style.</source>
   <translation>Große Modelle zeichnen Menschen, Tiere und Orte in jedem Stil.</translation>
  </message>
  <message>
   <source>Get it…</source>
   <translation>Holen…</translation>
  </message>
  <message>
   <source>Get {title}…</source>
   <translation>{title} holen…</translation>
  </message>
  <message>
   <source>Show others</source>
   <translation>Andere zeigen</translation>
  </message>
  <message>
   <source>{title}: {words}</source>
   <translation>{title}: {words}</translation>
  </message>
 </context>
 <context>
  <name>FirstRun</name>
  <message>
   <source>Choose a file…</source>
   <translation>Datei wählen…</translation>
  </message>
  <message>
   <source>Click a postcard: the small model that comes with Safelight draws one like it.</source>
   <translation>Auf eine Postkarte klicken: Das kleine Modell, das mit Safelight kommt, zeichnet eine ähnliche.</translation>
  </message>
  <message>
   <source>Draw “{prompt}”</source>
   <translation>„{prompt}“ zeichnen</translation>
  </message>
  <message>
   <source>Get one</source>
   <translation>Ein Modell holen</translation>
  </message>
  <message>
   <source>Its speed is being measured, once.</source>
   <translation>Die Geschwindigkeit wird einmalig gemessen.</translation>
  </message>
  <message>
   <source>Looking at your hardware…</source>
   <translation>Die Hardware wird ermittelt…</translation>
  </message>
  <message>
   <source>Make your first picture</source>
   <translation>Ihr erstes Bild</translation>
  </message>
  <message>
   <source>Models are files that know how things look. Choose one, or drop it on this window: it is used where it lies.</source>
   <translation>Modelle sind Dateien, die wissen, wie Dinge aussehen. Eines wählen oder auf dieses Fenster ziehen: Es wird dort verwendet, wo es liegt.</translation>
  </message>
  <message>
   <source>Try it now</source>
   <translation>Gleich ausprobieren</translation>
  </message>
  <message>
   <source>Use a model I have</source>
   <translation>Ein vorhandenes Modell verwenden</translation>
  </message>
  <message>
   <source>Ways to a first picture</source>
   <translation>Wege zum ersten Bild</translation>
  </message>
 </context>
 <context>
  <name>FolderField</name>
  <message>
   <source>Choose: {setting}</source>
   <translation>Wählen: {setting}</translation>
  </message>
  <message>
   <source>Choose…</source>
   <translation>Wählen…</translation>
  </message>
  <message>
   <source>The variable {name} of the environment names this folder.</source>
   <translation>Die Umgebungsvariable {name} nennt diesen Ordner.</translation>
  </message>
  <message>
   <source>There is no such home folder.</source>
   <translation>Diesen persönlichen Ordner gibt es nicht.</translation>
  </message>
  <message>
   <source>This folder cannot be used: {reason}. The one before stays.</source>
   <translation>Dieser Ordner kann nicht verwendet werden: {reason}. Der vorige bleibt.</translation>
  </message>
  <message>
   <source>This is a file. Choose a folder.</source>
   <translation>Das ist eine Datei. Einen Ordner wählen.</translation>
  </message>
  <message>
   <source>Use the usual folder</source>
   <translation>Den üblichen Ordner verwenden</translation>
  </message>
  <message>
   <source>Waiting for this folder. The one before is used until then.</source>
   <translation>Dieser Ordner antwortet noch nicht. Bis dahin gilt der vorherige.</translation>
  </message>
 </context>
 <context>
  <name>FolderRow</name>
  <message>
   <source>Always looked into · {n}</source>
   <translation>Wird immer durchsucht · {n}</translation>
  </message>
  <message>
   <source>Always looked into. It is made when you open it.</source>
   <translation>Wird immer durchsucht. Der Ordner entsteht, wenn Sie ihn öffnen.</translation>
  </message>
  <message>
   <source>Look into {folder} no longer</source>
   <translation>{folder} nicht mehr durchsuchen</translation>
  </message>
  <message>
   <source>Not there now. It is looked into again when it is back.</source>
   <translation>Zurzeit nicht da. Der Ordner wird wieder durchsucht, wenn er zurück ist.</translation>
  </message>
  <message>
   <source>Show {folder}</source>
   <translation>{folder} zeigen</translation>
  </message>
 </context>
 <context>
  <name>FoldersPane</name>
  <message>
   <source>Add a folder of pictures</source>
   <translation>Bilderordner hinzufügen</translation>
  </message>
  <message>
   <source>Add folder…</source>
   <translation>Ordner hinzufügen…</translation>
  </message>
  <message>
   <source>All pictures</source>
   <translation>Alle Bilder</translation>
  </message>
  <message>
   <source>Folders</source>
   <translation>Ordner</translation>
  </message>
  <message>
   <source>Folders of pictures</source>
   <translation>Bilderordner</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Remove from the Gallery</source>
   <translation>Aus der Galerie entfernen</translation>
  </message>
  <message>
   <source>Show in file manager</source>
   <translation>Im Dateimanager zeigen</translation>
  </message>
  <message>
   <source>Show the pictures in the folders below the chosen one, too</source>
   <translation>Auch die Bilder in den Ordnern unter dem gewählten zeigen</translation>
  </message>
  <message>
   <source>Show the pictures of another folder, with its subfolders</source>
   <translation>Die Bilder eines anderen Ordners zeigen, mit Unterordnern</translation>
  </message>
  <message>
   <source>Show them no more; the files stay where they are</source>
   <translation>Sie nicht mehr zeigen; die Dateien bleiben, wo sie sind</translation>
  </message>
  <message>
   <source>With subfolders</source>
   <translation>Mit Unterordnern</translation>
  </message>
 </context>
 <context>
  <name>FoldersView</name>
  <message>
   <source>Add a folder…</source>
   <translation>Ordner hinzufügen…</translation>
  </message>
  <message>
   <source>Folders of models</source>
   <translation>Modellordner</translation>
  </message>
  <message>
   <source>Found on this computer</source>
   <translation>Auf diesem Computer gefunden</translation>
  </message>
  <message>
   <source>Models stay where they are: nothing is copied or changed. Folders below these are looked into, too, and new files appear by themselves.</source>
   <translation>Modelle bleiben, wo sie sind: Nichts wird kopiert oder geändert. Auch Unterordner werden durchsucht, und neue Dateien erscheinen von selbst.</translation>
  </message>
  <message>
   <source>Your folders</source>
   <translation>Ihre Ordner</translation>
  </message>
 </context>
 <context>
  <name>Foot</name>
  <message>
   <source>Reading pictures</source>
   <translation>Bilder werden gelesen</translation>
  </message>
  <message>
   <source>Size of thumbnails</source>
   <translation>Größe der Vorschaubilder</translation>
  </message>
  <message>
   <source>Size of thumbnails ({keys})</source>
   <translation>Größe der Vorschaubilder ({keys})</translation>
  </message>
 </context>
 <context>
  <name>FormChanges</name>
  <message>
   <source>Its size is {width} × {height}, in the shape of that picture.</source>
   <translation>Die Größe ist {width} × {height}, im Format dieses Bildes.</translation>
  </message>
  <message>
   <source>Prompts replaced by those of {name}.</source>
   <translation>Die Prompts sind durch die von {name} ersetzt.</translation>
  </message>
  <message>
   <source>Settings and seed replaced by those of the pasted text.</source>
   <translation>Einstellungen und Seed wurden durch die des eingefügten Textes ersetzt.</translation>
  </message>
  <message>
   <source>Settings are back at the model's defaults.</source>
   <translation>Die Einstellungen sind wieder die üblichen des Modells.</translation>
  </message>
  <message>
   <source>Settings replaced by those of {name}.</source>
   <translation>Die Einstellungen sind durch die von {name} ersetzt.</translation>
  </message>
  <message>
   <source>The form is as it was before you undid it.</source>
   <translation>Das Formular ist wieder so wie vor dem Rückgängigmachen.</translation>
  </message>
  <message>
   <source>The form is as it was before.</source>
   <translation>Das Formular ist wieder wie zuvor.</translation>
  </message>
  <message>
   <source>The next picture starts from {name}.</source>
   <translation>Das nächste Bild geht von {name} aus.</translation>
  </message>
  <message>
   <source>The preset {name} is used.</source>
   <translation>Die Vorlage {name} wird verwendet.</translation>
  </message>
  <message>
   <source>The prompt and the settings are those of the postcard.</source>
   <translation>Prompt und Einstellungen sind die der Postkarte.</translation>
  </message>
  <message>
   <source>The prompt is an example now.</source>
   <translation>Der Prompt ist jetzt ein Beispiel.</translation>
  </message>
  <message>
   <source>The seed of {name} is kept for the next pictures.</source>
   <translation>Der Seed von {name} bleibt für die nächsten Bilder.</translation>
  </message>
  <message>
   <source>The settings are this model's defaults.</source>
   <translation>Die Einstellungen sind die üblichen dieses Modells.</translation>
  </message>
  <message>
   <source>The settings you last used with this model are back.</source>
   <translation>Die Einstellungen, die Sie mit diesem Modell zuletzt hatten, sind wieder da.</translation>
  </message>
  <message>
   <source>The start picture is removed, and the size is the model's.</source>
   <translation>Das Ausgangsbild ist entfernt, und die Größe ist die des Modells.</translation>
  </message>
  <message>
   <source>{name} begins with its own settings.</source>
   <translation>{name} beginnt mit eigenen Einstellungen.</translation>
  </message>
  <message>
   <source>{name} does not say its seed.</source>
   <translation>{name} nennt keinen Seed.</translation>
  </message>
  <message>
   <source>{name} is the model now.</source>
   <translation>{name} ist jetzt das Modell.</translation>
  </message>
 </context>
 <context>
  <name>FormPanel</name>
  <message>
   <source>A prompt has room for {n} characters.</source>
   <translation>Ein Prompt hat Platz für {n} Zeichen.</translation>
  </message>
  <message>
   <source>Describe the picture, e.g. a red house by the sea</source>
   <translation>Das Bild beschreiben, z. B. a red house by the sea</translation>
  </message>
  <message>
   <source>Lists of words…</source>
   <translation>Wortlisten…</translation>
  </message>
  <message>
   <source>Negative prompt</source>
   <translation>Negativer Prompt</translation>
  </message>
  <message>
   <source>Prompt</source>
   <translation>Prompt</translation>
  </message>
  <message>
   <source>Surprise me: an example prompt</source>
   <translation>Überraschung: ein Beispielprompt</translation>
  </message>
  <message>
   <source>The text was too long to be pasted whole.</source>
   <translation>Der Text war zu lang, um ganz eingefügt zu werden.</translation>
  </message>
  <message>
   <source>Things to avoid, e.g. blurry, text</source>
   <translation>Zu Vermeidendes, z. B. blurry, text</translation>
  </message>
  <message>
   <source>about {size} of memory</source>
   <translation>etwa {size} Speicher</translation>
  </message>
  <message>
   <source>too large for the memory</source>
   <translation>zu groß für den Speicher</translation>
  </message>
 </context>
 <context>
  <name>FoundRow</name>
  <message>
   <source>Use</source>
   <translation>Verwenden</translation>
  </message>
  <message>
   <source>Use the models in {folder}</source>
   <translation>Die Modelle in {folder} verwenden</translation>
  </message>
 </context>
 <context>
  <name>GalleryCommands</name>
  <message>
   <source>No picture is rejected.</source>
   <translation>Kein Bild ist abgelehnt.</translation>
  </message>
  <message>
   <source>{n} pictures are favourites no more.</source>
   <translation>{n} Bilder sind keine Favoriten mehr.</translation>
  </message>
  <message>
   <source>{n} pictures are favourites.</source>
   <translation>{n} Bilder sind Favoriten.</translation>
  </message>
  <message>
   <source>{n} pictures are rejected.</source>
   <translation>{n} Bilder sind abgelehnt.</translation>
  </message>
  <message>
   <source>{n} pictures are taken back.</source>
   <translation>{n} Bilder sind nicht mehr abgelehnt.</translation>
  </message>
  <message>
   <source>{n} pictures have 1 star now.</source>
   <translation>{n} Bilder haben jetzt 1 Stern.</translation>
  </message>
  <message>
   <source>{n} pictures have no stars any more.</source>
   <translation>{n} Bilder haben keine Sterne mehr.</translation>
  </message>
  <message>
   <source>{n} pictures have {stars} stars now.</source>
   <translation>{n} Bilder haben jetzt {stars} Sterne.</translation>
  </message>
 </context>
 <context>
  <name>GalleryPage</name>
  <message>
   <source>Choose two, three or four pictures to compare them.</source>
   <translation>Wählen Sie zwei, drei oder vier Bilder aus, um sie zu vergleichen.</translation>
  </message>
  <message>
   <source>How it was made</source>
   <translation>Wie es entstand</translation>
  </message>
  <message>
   <source>{name} is in another folder than the chosen one.</source>
   <translation>{name} liegt in einem anderen Ordner als dem gewählten.</translation>
  </message>
 </context>
 <context>
  <name>GapPanel</name>
  <message>
   <source>A file with this part: {part}</source>
   <translation>Eine Datei mit diesem Teil: {part}</translation>
  </message>
 </context>
 <context>
  <name>GapRow</name>
  <message>
   <source>Another file: {part}</source>
   <translation>Andere Datei: {part}</translation>
  </message>
  <message>
   <source>Another file…</source>
   <translation>Andere Datei…</translation>
  </message>
  <message>
   <source>Choose a file with it: {part}</source>
   <translation>Datei damit wählen: {part}</translation>
  </message>
  <message>
   <source>Choose a file with it…</source>
   <translation>Datei damit wählen…</translation>
  </message>
  <message>
   <source>Files that fit: {part}</source>
   <translation>Passende Dateien: {part}</translation>
  </message>
  <message>
   <source>Use</source>
   <translation>Verwenden</translation>
  </message>
  <message>
   <source>Use this file: {part}</source>
   <translation>Diese Datei verwenden: {part}</translation>
  </message>
  <message>
   <source>{part} is missing, and none of your files has one that fits.</source>
   <translation>{part} fehlt, und keine Ihrer Dateien hat etwas Passendes.</translation>
  </message>
  <message>
   <source>{part} is missing. Of your files this one fits best:</source>
   <translation>{part} fehlt. Von Ihren Dateien passt diese am besten:</translation>
  </message>
 </context>
 <context>
  <name>GenerateButton</name>
  <message>
   <source>Generate</source>
   <translation>Erzeugen</translation>
  </message>
  <message>
   <source>Generate {n}</source>
   <translation>{n} erzeugen</translation>
  </message>
  <message>
   <source>about {time}</source>
   <translation>etwa {time}</translation>
  </message>
  <message>
   <source>same seed</source>
   <translation>derselbe Seed</translation>
  </message>
 </context>
 <context>
  <name>GetModels</name>
  <message>
   <source>Asking {host}…</source>
   <translation>{host} wird gefragt…</translation>
  </message>
  <message>
   <source>From a link</source>
   <translation>Von einem Link</translation>
  </message>
  <message>
   <source>Get models</source>
   <translation>Modelle holen</translation>
  </message>
  <message>
   <source>Good ones to begin with</source>
   <translation>Gute für den Anfang</translation>
  </message>
  <message>
   <source>Link to a model</source>
   <translation>Link zu einem Modell</translation>
  </message>
  <message>
   <source>Look it up</source>
   <translation>Nachschlagen</translation>
  </message>
  <message>
   <source>Paste or drop the address of a model's page on Civitai or Hugging Face, or of a file. Nothing is asked before you press the button.</source>
   <translation>Die Adresse der Seite eines Modells auf Civitai oder Hugging Face oder die einer Datei einfügen oder hierher ziehen. Nichts wird gefragt, bevor Sie die Schaltfläche drücken.</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>Anhalten</translation>
  </message>
  <message>
   <source>The site says the exact size before anything is downloaded.</source>
   <translation>Die Seite nennt die genaue Größe vor dem Download.</translation>
  </message>
  <message>
   <source>This is no link to a model: copy the address of its page from your web browser.</source>
   <translation>Das ist kein Link zu einem Modell: die Adresse der Seite aus dem Browser kopieren.</translation>
  </message>
  <message>
   <source>What comes from an address with http:// is not encrypted: it could be another file. Use one with https://, or copy the file into your folder of models yourself.</source>
   <translation>Was von einer Adresse mit http:// kommt, ist nicht verschlüsselt: Es könnte eine andere Datei sein. Eine mit https:// nehmen oder die Datei selbst in den Ordner der Modelle kopieren.</translation>
  </message>
  <message>
   <source>{host} gives this only to people who have signed in, or who have agreed to its terms there.</source>
   <translation>{host} gibt das nur Leuten, die angemeldet sind oder dort den Bedingungen zugestimmt haben.</translation>
  </message>
 </context>
 <context>
  <name>GridView</name>
  <message>
   <source>Pictures</source>
   <translation>Bilder</translation>
  </message>
 </context>
 <context>
  <name>ImagePromptCard</name>
  <message>
   <source>Adapter</source>
   <translation>Adapter</translation>
  </message>
  <message>
   <source>Encoder</source>
   <translation>Encoder</translation>
  </message>
  <message>
   <source>It gives</source>
   <translation>Übernommen wird</translation>
  </message>
  <message>
   <source>Joined by</source>
   <translation>Verbunden durch</translation>
  </message>
  <message>
   <source>No other picture</source>
   <translation>Keinem anderen Bild</translation>
  </message>
  <message>
   <source>Only within</source>
   <translation>Nur innerhalb</translation>
  </message>
  <message>
   <source>Seen with</source>
   <translation>Gesehen mit</translation>
  </message>
  <message>
   <source>The whole picture</source>
   <translation>Das ganze Bild</translation>
  </message>
  <message>
   <source>Weight on</source>
   <translation>Gewicht auf</translation>
  </message>
 </context>
 <context>
  <name>InfoPanel</name>
  <message>
   <source>Follow live</source>
   <translation>Live folgen</translation>
  </message>
  <message>
   <source>No picture yet</source>
   <translation>Noch kein Bild</translation>
  </message>
  <message>
   <source>Pictures are saved in {folder}</source>
   <translation>Bilder werden in {folder} gespeichert</translation>
  </message>
  <message>
   <source>Reuse</source>
   <translation>Wiederverwenden</translation>
  </message>
  <message>
   <source>Start from this</source>
   <translation>Hiervon ausgehen</translation>
  </message>
  <message>
   <source>This file cannot be shown as a picture.</source>
   <translation>Diese Datei kann nicht als Bild gezeigt werden.</translation>
  </message>
  <message>
   <source>What to use of it…</source>
   <translation>Was davon verwendet wird…</translation>
  </message>
  <message>
   <source>Without a prompt</source>
   <translation>Ohne Prompt</translation>
  </message>
 </context>
 <context>
  <name>InputPanel</name>
  <message>
   <source>How closely the picture is followed</source>
   <translation>Wie genau dem Bild gefolgt wird</translation>
  </message>
  <message>
   <source>How much of the picture is redrawn</source>
   <translation>Wie viel vom Bild neu gezeichnet wird</translation>
  </message>
  <message>
   <source>Image guidance</source>
   <translation>Bild-Guidance</translation>
  </message>
  <message>
   <source>Image to image</source>
   <translation>Bild zu Bild</translation>
  </message>
  <message>
   <source>Image to image: start from a picture…</source>
   <translation>Bild zu Bild: von einem Bild ausgehen…</translation>
  </message>
  <message>
   <source>Remove the start picture</source>
   <translation>Ausgangsbild entfernen</translation>
  </message>
  <message>
   <source>Start from a picture</source>
   <translation>Von einem Bild ausgehen</translation>
  </message>
  <message>
   <source>Start from it</source>
   <translation>Davon ausgehen</translation>
  </message>
  <message>
   <source>Strength</source>
   <translation>Stärke</translation>
  </message>
  <message>
   <source>This model changes a picture as the prompt says: choose one.</source>
   <translation>Dieses Modell ändert ein Bild, wie der Prompt es sagt: eines wählen.</translation>
  </message>
  <message>
   <source>cannot be read</source>
   <translation>nicht lesbar</translation>
  </message>
  <message>
   <source>grown to {size}</source>
   <translation>vergrößert auf {size}</translation>
  </message>
  <message>
   <source>keep</source>
   <translation>behalten</translation>
  </message>
  <message>
   <source>reinvent</source>
   <translation>erfinden</translation>
  </message>
  <message>
   <source>{size} · with a mask</source>
   <translation>{size} · mit Maske</translation>
  </message>
 </context>
 <context>
  <name>Invitation</name>
  <message>
   <source>A model is a file that has learnt to draw from many pictures; people share theirs on sites such as Civitai and Hugging Face. Those that other programs have put on this computer can be used where they are.</source>
   <translation>Ein Modell ist eine Datei, die an vielen Bildern zeichnen gelernt hat; auf Seiten wie Civitai und Hugging Face werden sie geteilt. Modelle, die andere Programme auf diesem Rechner abgelegt haben, lassen sich an Ort und Stelle verwenden.</translation>
  </message>
  <message>
   <source>Add a folder of models…</source>
   <translation>Ordner mit Modellen hinzufügen…</translation>
  </message>
  <message>
   <source>Bring your own models</source>
   <translation>Eigene Modelle mitbringen</translation>
  </message>
  <message>
   <source>Get a model</source>
   <translation>Ein Modell holen</translation>
  </message>
  <message>
   <source>Open a file…</source>
   <translation>Datei öffnen…</translation>
  </message>
 </context>
 <context>
  <name>KeyButton</name>
  <message>
   <source>No key</source>
   <translation>Keine Taste</translation>
  </message>
  <message>
   <source>Press the new keys…</source>
   <translation>Die neuen Tasten drücken…</translation>
  </message>
  <message>
   <source>no key</source>
   <translation>keine Taste</translation>
  </message>
  <message>
   <source>{action}: {key}</source>
   <translation>{action}: {key}</translation>
  </message>
 </context>
 <context>
  <name>LayerCard</name>
  <message>
   <source>Choose a picture, or drop one here</source>
   <translation>Wählen Sie ein Bild, oder legen Sie eines hier ab</translation>
  </message>
  <message>
   <source>Choose another picture for {name}</source>
   <translation>Ein anderes Bild für {name} wählen</translation>
  </message>
  <message>
   <source>Double-click for 1</source>
   <translation>Doppelklick für 1</translation>
  </message>
  <message>
   <source>End of {name}, as a part of the steps</source>
   <translation>Ende von {name}, als Anteil der Schritte</translation>
  </message>
  <message>
   <source>Find it…</source>
   <translation>Suchen…</translation>
  </message>
  <message>
   <source>Find {name}</source>
   <translation>{name} suchen</translation>
  </message>
  <message>
   <source>Move</source>
   <translation>Verschieben</translation>
  </message>
  <message>
   <source>Move {name} up or down</source>
   <translation>{name} nach oben oder unten verschieben</translation>
  </message>
  <message>
   <source>Picture</source>
   <translation>Bild</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Remove {name}</source>
   <translation>{name} entfernen</translation>
  </message>
  <message>
   <source>Start of {name}, as a part of the steps</source>
   <translation>Beginn von {name}, als Anteil der Schritte</translation>
  </message>
  <message>
   <source>Steps</source>
   <translation>Schritte</translation>
  </message>
  <message>
   <source>The part of the steps in which it acts. Double-click for all of them.</source>
   <translation>Der Anteil der Schritte, in dem es wirkt. Doppelklick für alle.</translation>
  </message>
  <message>
   <source>This picture cannot be read.</source>
   <translation>Dieses Bild kann nicht gelesen werden.</translation>
  </message>
  <message>
   <source>Use it for the next pictures</source>
   <translation>Für die nächsten Bilder verwenden</translation>
  </message>
  <message>
   <source>Use {name}</source>
   <translation>{name} verwenden</translation>
  </message>
  <message>
   <source>Weight</source>
   <translation>Gewicht</translation>
  </message>
  <message>
   <source>Weight of {name}</source>
   <translation>Gewicht von {name}</translation>
  </message>
  <message>
   <source>arrow keys</source>
   <translation>Pfeiltasten</translation>
  </message>
  <message>
   <source>{name}, slider</source>
   <translation>{name}, Schieberegler</translation>
  </message>
 </context>
 <context>
  <name>LayerCommands</name>
  <message>
   <source>The next picture follows {name}.</source>
   <translation>Das nächste Bild folgt {name}.</translation>
  </message>
  <message>
   <source>There is room for {n} of them.</source>
   <translation>Es ist Platz für {n} davon.</translation>
  </message>
  <message>
   <source>{name} follows a picture: choose it in the form.</source>
   <translation>{name} folgt einem Bild: Wählen Sie es im Formular.</translation>
  </message>
  <message>
   <source>{name} is a prompt of the next picture.</source>
   <translation>{name} ist ein Prompt des nächsten Bildes.</translation>
  </message>
  <message>
   <source>{name} is removed.</source>
   <translation>{name} ist entfernt.</translation>
  </message>
  <message>
   <source>{name} is used now.</source>
   <translation>{name} wird jetzt verwendet.</translation>
  </message>
  <message>
   <source>{name} makes a prompt of a picture: choose it in the form.</source>
   <translation>{name} macht aus einem Bild einen Prompt: Wählen Sie es im Formular.</translation>
  </message>
  <message>
   <source>{name} reads the pictures of image prompts.</source>
   <translation>{name} liest die Bilder der Bild-Prompts.</translation>
  </message>
 </context>
 <context>
  <name>LayerPanel</name>
  <message>
   <source>A file of weights</source>
   <translation>Eine Datei mit Gewichten</translation>
  </message>
  <message>
   <source>A mask: white where it acts</source>
   <translation>Eine Maske: weiß, wo es wirkt</translation>
  </message>
  <message>
   <source>A picture that is seen together with the first</source>
   <translation>Ein Bild, das zusammen mit dem ersten gesehen wird</translation>
  </message>
  <message>
   <source>Add a control layer…</source>
   <translation>Eine Steuerebene hinzufügen…</translation>
  </message>
  <message>
   <source>Add an image prompt…</source>
   <translation>Einen Bild-Prompt hinzufügen…</translation>
  </message>
  <message>
   <source>Another picture</source>
   <translation>Ein anderes Bild</translation>
  </message>
  <message>
   <source>Control layers</source>
   <translation>Steuerebenen</translation>
  </message>
  <message>
   <source>Control: follow the lines or depth of a picture…</source>
   <translation>Steuern: den Linien oder der Tiefe eines Bildes folgen…</translation>
  </message>
  <message>
   <source>Follow this picture</source>
   <translation>Diesem Bild folgen</translation>
  </message>
  <message>
   <source>Image prompt: a picture as a prompt…</source>
   <translation>Bild-Prompt: ein Bild als Prompt…</translation>
  </message>
  <message>
   <source>Image prompts</source>
   <translation>Bild-Prompts</translation>
  </message>
  <message>
   <source>Replace the picture</source>
   <translation>Das Bild ersetzen</translation>
  </message>
  <message>
   <source>The file for {name}</source>
   <translation>Die Datei für {name}</translation>
  </message>
  <message>
   <source>Use as an image prompt</source>
   <translation>Als Bild-Prompt verwenden</translation>
  </message>
  <message>
   <source>Use this picture</source>
   <translation>Dieses Bild verwenden</translation>
  </message>
 </context>
 <context>
  <name>LicenceLink</name>
  <message>
   <source>Licence: {name}</source>
   <translation>Lizenz: {name}</translation>
  </message>
 </context>
 <context>
  <name>LineField</name>
  <message>
   <source>Clear</source>
   <translation>Leeren</translation>
  </message>
 </context>
 <context>
  <name>LoraCommands</name>
  <message>
   <source>Added to the list: {names}.</source>
   <translation>In die Liste aufgenommen: {names}.</translation>
  </message>
  <message>
   <source>Removed from the list: {names}.</source>
   <translation>Aus der Liste entfernt: {names}.</translation>
  </message>
  <message>
   <source>Sampler, schedule, steps and guidance are those of {title}.</source>
   <translation>Sampler, Zeitplan, Schritte und Guidance sind die von {title}.</translation>
  </message>
  <message>
   <source>The list has room for {n} LoRAs.</source>
   <translation>Die Liste hat Platz für {n} LoRAs.</translation>
  </message>
  <message>
   <source>The list of LoRAs has changed.</source>
   <translation>Die Liste der LoRAs hat sich geändert.</translation>
  </message>
  <message>
   <source>The list of LoRAs is as it was before.</source>
   <translation>Die Liste der LoRAs ist wieder wie zuvor.</translation>
  </message>
  <message>
   <source>Two files are called {name} in their folders: rename one.</source>
   <translation>Zwei Dateien heißen in ihren Ordnern {name}: Benennen Sie eine um.</translation>
  </message>
  <message>
   <source>{name} is a LoRA, and is in the list now.</source>
   <translation>{name} ist eine LoRA und steht jetzt in der Liste.</translation>
  </message>
  <message>
   <source>{name} is called {new} in the prompt now.</source>
   <translation>{name} heißt im Prompt jetzt {new}.</translation>
  </message>
  <message>
   <source>{name} is removed.</source>
   <translation>{name} ist entfernt.</translation>
  </message>
  <message>
   <source>{name} is used now.</source>
   <translation>{name} wird jetzt verwendet.</translation>
  </message>
  <message>
   <source>{name} moved from the prompt to the list.</source>
   <translation>{name} ist vom Prompt in die Liste gewechselt.</translation>
  </message>
  <message>
   <source>{n} more</source>
   <translation>{n} weitere</translation>
  </message>
 </context>
 <context>
  <name>LoraDialog</name>
  <message>
   <source>Add</source>
   <translation>Hinzufügen</translation>
  </message>
  <message>
   <source>By name</source>
   <translation>Name</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Last used first</source>
   <translation>Zuletzt verwendete zuerst</translation>
  </message>
  <message>
   <source>LoRA files</source>
   <translation>LoRA-Dateien</translation>
  </message>
  <message>
   <source>LoRA folders…</source>
   <translation>LoRA-Ordner…</translation>
  </message>
  <message>
   <source>Looking for LoRA files…</source>
   <translation>LoRA-Dateien werden gesucht…</translation>
  </message>
  <message>
   <source>Name, trigger word or base model</source>
   <translation>Name, Triggerwort oder Basismodell</translation>
  </message>
  <message>
   <source>Newest first</source>
   <translation>Neueste zuerst</translation>
  </message>
  <message>
   <source>No LoRA has these words.</source>
   <translation>Keine LoRA enthält diese Wörter.</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>Suchen</translation>
  </message>
  <message>
   <source>Sort</source>
   <translation>Sortieren</translation>
  </message>
  <message>
   <source>The LoRA files could not be listed. {reason}</source>
   <translation>Die LoRA-Dateien konnten nicht aufgelistet werden. {reason}</translation>
  </message>
  <message>
   <source>There are no LoRA files in these folders: name yours below.</source>
   <translation>In diesen Ordnern sind keine LoRA-Dateien: Eigene Ordner unten angeben.</translation>
  </message>
  <message>
   <source>Try again</source>
   <translation>Noch einmal versuchen</translation>
  </message>
 </context>
 <context>
  <name>LoraFoldersDialog</name>
  <message>
   <source>A folder of models</source>
   <translation>Ein Modellordner</translation>
  </message>
  <message>
   <source>Add a folder…</source>
   <translation>Ordner hinzufügen…</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Folders of models</source>
   <translation>Modellordner</translation>
  </message>
  <message>
   <source>Other folders</source>
   <translation>Andere Ordner</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Safelight looks into the folders Lora, loras and LyCORIS of {models}, and into the folders below, for models of every kind. Name the folder of AUTOMATIC1111, ComfyUI or Easy Diffusion: its LoRA files and embeddings are found in it. Nothing is copied.</source>
   <translation>Safelight sucht in den Ordnern Lora, loras und LyCORIS von {models} und in den Ordnern unten nach Modellen aller Art. Der Ordner von AUTOMATIC1111, ComfyUI oder Easy Diffusion genügt: LoRA-Dateien und Embeddings werden darin gefunden. Nichts wird kopiert.</translation>
  </message>
 </context>
 <context>
  <name>LoraItemModel</name>
  <message>
   <source>in use</source>
   <translation>wird verwendet</translation>
  </message>
  <message>
   <source>trigger words: {words}</source>
   <translation>Triggerwörter: {words}</translation>
  </message>
 </context>
 <context>
  <name>LoraPanel</name>
  <message>
   <source>Add a LoRA…</source>
   <translation>LoRA hinzufügen…</translation>
  </message>
  <message>
   <source>Find {name}</source>
   <translation>{name} suchen</translation>
  </message>
  <message>
   <source>LoRA</source>
   <translation>LoRA</translation>
  </message>
  <message>
   <source>LoRA: add a style or a subject…</source>
   <translation>LoRA: einen Stil oder ein Motiv hinzufügen…</translation>
  </message>
  <message>
   <source>The prompt also names {names}.</source>
   <translation>Der Prompt nennt auch {names}.</translation>
  </message>
  <message>
   <source>The prompt names {names}.</source>
   <translation>Der Prompt nennt {names}.</translation>
  </message>
 </context>
 <context>
  <name>LoraRowPanel</name>
  <message>
   <source>A strength of its own for the text</source>
   <translation>Eigene Stärke für den Text</translation>
  </message>
  <message>
   <source>Another file called {name}</source>
   <translation>Andere Datei namens {name}</translation>
  </message>
  <message>
   <source>Another file of this name…</source>
   <translation>Andere Datei dieses Namens…</translation>
  </message>
  <message>
   <source>Double-click for 1</source>
   <translation>Doppelklick für 1</translation>
  </message>
  <message>
   <source>Double-click for the same as above</source>
   <translation>Doppelklick für denselben Wert wie oben</translation>
  </message>
  <message>
   <source>Find it…</source>
   <translation>Suchen…</translation>
  </message>
  <message>
   <source>Find {name}</source>
   <translation>{name} suchen</translation>
  </message>
  <message>
   <source>On text</source>
   <translation>Auf Text</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Remove {name}</source>
   <translation>{name} entfernen</translation>
  </message>
  <message>
   <source>Strength</source>
   <translation>Stärke</translation>
  </message>
  <message>
   <source>Strength of {name}</source>
   <translation>Stärke von {name}</translation>
  </message>
  <message>
   <source>Strength of {name} on the text</source>
   <translation>Stärke von {name} auf den Text</translation>
  </message>
  <message>
   <source>The strength of what it does to the prompt</source>
   <translation>Die Stärke der Wirkung auf den Prompt</translation>
  </message>
  <message>
   <source>Trigger words</source>
   <translation>Triggerwörter</translation>
  </message>
  <message>
   <source>Use it for the next pictures</source>
   <translation>Für die nächsten Bilder verwenden</translation>
  </message>
  <message>
   <source>Use {name}</source>
   <translation>{name} verwenden</translation>
  </message>
  <message>
   <source>{name}, slider</source>
   <translation>{name}, Schieberegler</translation>
  </message>
 </context>
 <context>
  <name>MainWindow</name>
  <message>
   <source>Models and pictures ({models} {pictures});;All files (*)</source>
   <translation>Modelle und Bilder ({models} {pictures});;Alle Dateien (*)</translation>
  </message>
  <message>
   <source>Open a model or a picture</source>
   <translation>Modell oder Bild öffnen</translation>
  </message>
 </context>
 <context>
  <name>Making</name>
  <message>
   <source>Made again it would be the same. Let the seed change for another one.</source>
   <translation>Noch einmal erzeugt wäre es dasselbe. Für ein anderes muss sich der Seed ändern.</translation>
  </message>
  <message>
   <source>Some of these pictures exist, with these very settings and seeds.</source>
   <translation>Einige dieser Bilder gibt es schon, mit genau diesen Einstellungen und Seeds.</translation>
  </message>
  <message>
   <source>This very picture is being made, or was made a moment ago.</source>
   <translation>Genau dieses Bild entsteht gerade oder entstand eben.</translation>
  </message>
  <message>
   <source>{name} was made with these very settings and this seed.</source>
   <translation>{name} entstand mit genau diesen Einstellungen und diesem Seed.</translation>
  </message>
 </context>
 <context>
  <name>MapSwitch</name>
  <message>
   <source>Map {n} of {count}: {name}</source>
   <translation>Karte {n} von {count}: {name}</translation>
  </message>
  <message>
   <source>No map</source>
   <translation>Keine Karte</translation>
  </message>
  <message>
   <source>Show the map of another control layer</source>
   <translation>Die Karte einer anderen Steuerebene zeigen</translation>
  </message>
 </context>
 <context>
  <name>MenuBar</name>
  <message>
   <source>&amp;Edit</source>
   <translation>&amp;Bearbeiten</translation>
  </message>
  <message>
   <source>&amp;File</source>
   <translation>&amp;Datei</translation>
  </message>
  <message>
   <source>&amp;Help</source>
   <translation>&amp;Hilfe</translation>
  </message>
  <message>
   <source>&amp;Mask</source>
   <translation>&amp;Maske</translation>
  </message>
  <message>
   <source>&amp;Picture</source>
   <translation>B&amp;ild</translation>
  </message>
  <message>
   <source>&amp;Tools</source>
   <translation>&amp;Werkzeuge</translation>
  </message>
  <message>
   <source>&amp;View</source>
   <translation>&amp;Ansicht</translation>
  </message>
 </context>
 <context>
  <name>MessageOverlay</name>
  <message>
   <source>1 message</source>
   <translation>1 Meldung</translation>
  </message>
  <message>
   <source>{n} messages</source>
   <translation>{n} Meldungen</translation>
  </message>
 </context>
 <context>
  <name>MessagesDialog</name>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Copy all</source>
   <translation>Alles kopieren</translation>
  </message>
  <message>
   <source>Earlier messages</source>
   <translation>Frühere Meldungen</translation>
  </message>
  <message>
   <source>There was no message since Safelight started.</source>
   <translation>Seit dem Start von Safelight gab es keine Meldung.</translation>
  </message>
  <message>
   <source>They are those since Safelight started, the latest first.</source>
   <translation>Es sind die seit dem Start von Safelight, die neueste zuerst.</translation>
  </message>
 </context>
 <context>
  <name>MethodPanel</name>
  <message>
   <source>Auto</source>
   <translation>Auto</translation>
  </message>
  <message>
   <source>Auto · {name}</source>
   <translation>Auto · {name}</translation>
  </message>
  <message>
   <source>Match results of</source>
   <translation>Ergebnisse wie in</translation>
  </message>
  <message>
   <source>Sampler</source>
   <translation>Sampler</translation>
  </message>
  <message>
   <source>Schedule</source>
   <translation>Zeitplan</translation>
  </message>
  <message>
   <source>The same settings give other pictures in other programs.</source>
   <translation>Dieselben Einstellungen ergeben in anderen Programmen andere Bilder.</translation>
  </message>
 </context>
 <context>
  <name>ModelCommands</name>
  <message>
   <source>Delete it in the file manager; this folder may have no trash.</source>
   <translation>Im Dateimanager löschen; dieser Ordner hat vielleicht keinen Papierkorb.</translation>
  </message>
  <message>
   <source>It is still in the trash of your system.</source>
   <translation>Sie ist noch im Papierkorb des Systems.</translation>
  </message>
  <message>
   <source>Pictures may have been made with it: Safelight lets go of a model five minutes after the last one. Or this folder has no trash; then delete it in Explorer.</source>
   <translation>Vielleicht wurden Bilder damit gemacht: Safelight gibt ein Modell fünf Minuten nach dem letzten frei. Oder dieser Ordner hat keinen Papierkorb; dann im Explorer löschen.</translation>
  </message>
  <message>
   <source>The file could not be put back.</source>
   <translation>Die Datei konnte nicht zurückgelegt werden.</translation>
  </message>
  <message>
   <source>{name} could not be moved to the trash.</source>
   <translation>{name} konnte nicht in den Papierkorb gelegt werden.</translation>
  </message>
  <message>
   <source>{name} is in the trash.</source>
   <translation>{name} ist im Papierkorb.</translation>
  </message>
  <message>
   <source>{name} is used with {file}.</source>
   <translation>{name} wird mit {file} verwendet.</translation>
  </message>
 </context>
 <context>
  <name>ModelDetails</name>
  <message>
   <source>About the model</source>
   <translation>Über das Modell</translation>
  </message>
  <message>
   <source>Author's notes</source>
   <translation>Notizen des Autors</translation>
  </message>
  <message>
   <source>Changed</source>
   <translation>Geändert</translation>
  </message>
  <message>
   <source>Compute the hash</source>
   <translation>Hash berechnen</translation>
  </message>
  <message>
   <source>Computing the hash: {n} %</source>
   <translation>Hash wird berechnet: {n} %</translation>
  </message>
  <message>
   <source>Defaults</source>
   <translation>Vorgaben</translation>
  </message>
  <message>
   <source>In use</source>
   <translation>Wird verwendet</translation>
  </message>
  <message>
   <source>Made from</source>
   <translation>Entstanden aus</translation>
  </message>
  <message>
   <source>Move to the trash</source>
   <translation>In den Papierkorb legen</translation>
  </message>
  <message>
   <source>Notes</source>
   <translation>Notizen</translation>
  </message>
  <message>
   <source>Picture</source>
   <translation>Bild</translation>
  </message>
  <message>
   <source>Place</source>
   <translation>Ort</translation>
  </message>
  <message>
   <source>Precision</source>
   <translation>Genauigkeit</translation>
  </message>
  <message>
   <source>Prediction</source>
   <translation>Vorhersage</translation>
  </message>
  <message>
   <source>SHA-256</source>
   <translation>SHA-256</translation>
  </message>
  <message>
   <source>Show in the file manager</source>
   <translation>Im Dateimanager zeigen</translation>
  </message>
  <message>
   <source>Size</source>
   <translation>Größe</translation>
  </message>
  <message>
   <source>The hash could not be computed: the file has changed, or cannot be read.</source>
   <translation>Der Hash konnte nicht berechnet werden: Die Datei hat sich geändert oder ist nicht lesbar.</translation>
  </message>
  <message>
   <source>Title</source>
   <translation>Titel</translation>
  </message>
  <message>
   <source>Trigger words</source>
   <translation>Triggerwörter</translation>
  </message>
  <message>
   <source>What it is good at, which words it likes…</source>
   <translation>Was es gut kann, welche Wörter es mag…</translation>
  </message>
  <message>
   <source>{sampler}, {steps}, guidance {guidance}</source>
   <translation>{sampler}, {steps}, Guidance {guidance}</translation>
  </message>
 </context>
 <context>
  <name>ModelFolders</name>
  <message>
   <source>{folder} is looked into no longer.</source>
   <translation>{folder} wird nicht mehr durchsucht.</translation>
  </message>
 </context>
 <context>
  <name>ModelsPage</name>
  <message>
   <source>Folders</source>
   <translation>Ordner</translation>
  </message>
  <message>
   <source>Get models</source>
   <translation>Modelle holen</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>Modelle</translation>
  </message>
  <message>
   <source>Yours</source>
   <translation>Vorhanden</translation>
  </message>
 </context>
 <context>
  <name>NoticeBar</name>
  <message>
   <source>And {n} more.</source>
   <translation>Und {n} weitere.</translation>
  </message>
  <message>
   <source>Copy report</source>
   <translation>Bericht kopieren</translation>
  </message>
  <message>
   <source>Details</source>
   <translation>Details</translation>
  </message>
  <message>
   <source>Dismiss</source>
   <translation>Ausblenden</translation>
  </message>
  <message>
   <source>Report</source>
   <translation>Bericht</translation>
  </message>
 </context>
 <context>
  <name>NoticeCard</name>
  <message>
   <source>Another message is behind this one.</source>
   <translation>Hinter dieser Meldung ist noch eine.</translation>
  </message>
  <message>
   <source>Copy all</source>
   <translation>Alles kopieren</translation>
  </message>
  <message>
   <source>{n} more messages are behind this one.</source>
   <translation>Hinter dieser Meldung sind noch {n} weitere.</translation>
  </message>
 </context>
 <context>
  <name>NoticePanel</name>
  <message>
   <source>A file with this part: {part}</source>
   <translation>Eine Datei mit diesem Teil: {part}</translation>
  </message>
  <message>
   <source>A folder for pictures</source>
   <translation>Ein Ordner für Bilder</translation>
  </message>
  <message>
   <source>A model for this picture</source>
   <translation>Ein Modell für dieses Bild</translation>
  </message>
  <message>
   <source>Force stop</source>
   <translation>Sofort beenden</translation>
  </message>
  <message>
   <source>It may be busy with something large. You can wait, or stop it by force: finished pictures are safe, and the one being made starts again.</source>
   <translation>Sie ist vielleicht mit etwas Großem beschäftigt. Sie können warten oder sie sofort beenden: Fertige Bilder sind sicher, und das laufende beginnt von vorn.</translation>
  </message>
  <message>
   <source>Start again</source>
   <translation>Neu starten</translation>
  </message>
  <message>
   <source>The engine is not answering.</source>
   <translation>Die Engine antwortet nicht.</translation>
  </message>
 </context>
 <context>
  <name>ObstacleState</name>
  <message>
   <source>Add a control layer, and choose the picture that it follows.</source>
   <translation>Fügen Sie eine Steuerebene hinzu, und wählen Sie das Bild, dem sie folgt.</translation>
  </message>
  <message>
   <source>Choose a file for it.</source>
   <translation>Eine Datei dafür wählen.</translation>
  </message>
  <message>
   <source>Choose it again, or remove it.</source>
   <translation>Neu wählen oder entfernen.</translation>
  </message>
  <message>
   <source>Paint it anew, or remove the start picture.</source>
   <translation>Neu malen oder das Ausgangsbild entfernen.</translation>
  </message>
  <message>
   <source>The mask of the start picture is gone.</source>
   <translation>Die Maske des Ausgangsbildes ist nicht mehr da.</translation>
  </message>
  <message>
   <source>The reference picture {name} is gone.</source>
   <translation>Das Referenzbild {name} ist nicht mehr da.</translation>
  </message>
  <message>
   <source>The start picture {name} is gone.</source>
   <translation>Das Ausgangsbild {name} ist nicht mehr da.</translation>
  </message>
  <message>
   <source>{name} follows the lines or depth of a picture, and there is none.</source>
   <translation>{name} folgt den Linien oder der Tiefe eines Bildes, und es gibt keines.</translation>
  </message>
  <message>
   <source>{name} lacks a part: {parts}.</source>
   <translation>{name} fehlt ein Teil: {parts}.</translation>
  </message>
 </context>
 <context>
  <name>OfferBar</name>
  <message>
   <source>Details…</source>
   <translation>Details…</translation>
  </message>
  <message>
   <source>Not now</source>
   <translation>Nicht jetzt</translation>
  </message>
 </context>
 <context>
  <name>OfferCard</name>
  <message>
   <source>Comes from</source>
   <translation>Kommt von</translation>
  </message>
  <message>
   <source>Download</source>
   <translation>Herunterladen</translation>
  </message>
  <message>
   <source>Download {size}</source>
   <translation>{size} herunterladen</translation>
  </message>
  <message>
   <source>File</source>
   <translation>Datei</translation>
  </message>
  <message>
   <source>Goes to</source>
   <translation>Kommt nach</translation>
  </message>
  <message>
   <source>Hash</source>
   <translation>Hash</translation>
  </message>
  <message>
   <source>Kind</source>
   <translation>Art</translation>
  </message>
  <message>
   <source>Licence</source>
   <translation>Lizenz</translation>
  </message>
  <message>
   <source>Nobody states one: only the size can be compared.</source>
   <translation>Keiner ist angegeben: Nur die Größe kann verglichen werden.</translation>
  </message>
  <message>
   <source>Not now</source>
   <translation>Nicht jetzt</translation>
  </message>
  <message>
   <source>Not stated</source>
   <translation>Nicht angegeben</translation>
  </message>
  <message>
   <source>Not stated: see the page before you use it.</source>
   <translation>Nicht angegeben: vor der Verwendung die Seite ansehen.</translation>
  </message>
  <message>
   <source>SHA-256 {digits}, compared when it has arrived</source>
   <translation>SHA-256 {digits}, nach der Ankunft verglichen</translation>
  </message>
  <message>
   <source>Size</source>
   <translation>Größe</translation>
  </message>
 </context>
 <context>
  <name>OfferRow</name>
  <message>
   <source>Look into it</source>
   <translation>Durchsuchen</translation>
  </message>
  <message>
   <source>Look into {folder}</source>
   <translation>{folder} durchsuchen</translation>
  </message>
 </context>
 <context>
  <name>Opening</name>
  <message>
   <source>It was copied into the folder {folder}.</source>
   <translation>Es wurde in den Ordner {folder} kopiert.</translation>
  </message>
  <message>
   <source>Its place is the folder {folder}. Write {spelled} in the prompt.</source>
   <translation>Der Platz dafür ist der Ordner {folder}. Im Prompt {spelled} schreiben.</translation>
  </message>
  <message>
   <source>Prompts as in {tool} cannot have its name: rename {file}.</source>
   <translation>In Prompts wie in {tool} kann dieser Name nicht stehen: {file} umbenennen.</translation>
  </message>
  <message>
   <source>Safelight takes models, LoRAs, and pictures as PNG, JPEG or WebP.</source>
   <translation>Safelight nimmt Modelle, LoRAs und Bilder als PNG, JPEG oder WebP.</translation>
  </message>
  <message>
   <source>{name} cannot be used.</source>
   <translation>{name} ist nicht verwendbar.</translation>
  </message>
  <message>
   <source>{name} has no place in the form.</source>
   <translation>{name} hat im Formular keinen Platz.</translation>
  </message>
  <message>
   <source>{name} is an embedding: it acts where a prompt names it.</source>
   <translation>{name} ist ein Embedding: Es wirkt, wo ein Prompt es nennt.</translation>
  </message>
  <message>
   <source>{name} is in the prompt already.</source>
   <translation>{name} steht schon im Prompt.</translation>
  </message>
  <message>
   <source>{name} is in the prompt.</source>
   <translation>{name} steht im Prompt.</translation>
  </message>
 </context>
 <context>
  <name>OutputPictureItemModel</name>
  <message>
   <source>{name}: not a picture that can be shown</source>
   <translation>{name}: kein Bild, das gezeigt werden kann</translation>
  </message>
 </context>
 <context>
  <name>OwnSettings</name>
  <message>
   <source>1 more</source>
   <translation>1 weitere</translation>
  </message>
  <message>
   <source>Forget</source>
   <translation>Vergessen</translation>
  </message>
  <message>
   <source>Forget your settings with this model</source>
   <translation>Ihre Einstellungen mit diesem Modell vergessen</translation>
  </message>
  <message>
   <source>The model begins with its own settings again.</source>
   <translation>Das Modell beginnt wieder mit eigenen Einstellungen.</translation>
  </message>
  <message>
   <source>Your settings</source>
   <translation>Ihre Einstellungen</translation>
  </message>
  <message>
   <source>guidance {guidance}</source>
   <translation>Guidance {guidance}</translation>
  </message>
  <message>
   <source>{n} more</source>
   <translation>{n} weitere</translation>
  </message>
 </context>
 <context>
  <name>PackCard</name>
  <message>
   <source>Installation of {title}</source>
   <translation>Installation von {title}</translation>
  </message>
  <message>
   <source>Manage</source>
   <translation>Verwalten</translation>
  </message>
  <message>
   <source>Read the licence: {name}</source>
   <translation>Lizenz lesen: {name}</translation>
  </message>
  <message>
   <source>The picture that is being made then begins anew.</source>
   <translation>Das laufende Bild beginnt dann von vorn.</translation>
  </message>
 </context>
 <context>
  <name>PackCommands</name>
  <message>
   <source>A file of another version or for another system has another name.</source>
   <translation>Eine Datei einer anderen Version oder für ein anderes System heißt anders.</translation>
  </message>
  <message>
   <source>{name} is no part of a runtime for this computer.</source>
   <translation>{name} gehört zu keiner Laufzeit für diesen Computer.</translation>
  </message>
 </context>
 <context>
  <name>PaintBar</name>
  <message>
   <source>Back to the picture; the mask stays in force (Esc)</source>
   <translation>Zurück zum Bild; die Maske bleibt in Kraft (Esc)</translation>
  </message>
  <message>
   <source>Bottom</source>
   <translation>Unten</translation>
  </message>
  <message>
   <source>Brush</source>
   <translation>Pinsel</translation>
  </message>
  <message>
   <source>Colour of the mask</source>
   <translation>Farbe der Maske</translation>
  </message>
  <message>
   <source>Done</source>
   <translation>Fertig</translation>
  </message>
  <message>
   <source>How soft the edge of the mask is, in pixels of the picture. It is the same as the soft edge below the start picture.</source>
   <translation>Wie weich die Kante der Maske ist, in Pixeln des Bildes. Es ist dasselbe wie „Weiche Kante“ unter dem Ausgangsbild.</translation>
  </message>
  <message>
   <source>Left</source>
   <translation>Links</translation>
  </message>
  <message>
   <source>Open a mask…</source>
   <translation>Maske öffnen…</translation>
  </message>
  <message>
   <source>Right</source>
   <translation>Rechts</translation>
  </message>
  <message>
   <source>Soft edge</source>
   <translation>Weiche Kante</translation>
  </message>
  <message>
   <source>Top</source>
   <translation>Oben</translation>
  </message>
 </context>
 <context>
  <name>PaintPanel</name>
  <message>
   <source>Open a mask</source>
   <translation>Maske öffnen</translation>
  </message>
 </context>
 <context>
  <name>PaintView</name>
  <message>
   <source>Start picture to paint on</source>
   <translation>Ausgangsbild zum Bemalen</translation>
  </message>
 </context>
 <context>
  <name>PartRow</name>
  <message>
   <source>Choose a file…</source>
   <translation>Datei wählen…</translation>
  </message>
  <message>
   <source>The model's own</source>
   <translation>Der eigene des Modells</translation>
  </message>
  <message>
   <source>{part}: choose a file…</source>
   <translation>{part}: Datei wählen…</translation>
  </message>
  <message>
   <source>{part}: the model's own</source>
   <translation>{part}: der eigene des Modells</translation>
  </message>
 </context>
 <context>
  <name>PartsPanel</name>
  <message>
   <source>A file with this part: {part}</source>
   <translation>Eine Datei mit diesem Teil: {part}</translation>
  </message>
 </context>
 <context>
  <name>Pasting</name>
  <message>
   <source>Copy a picture, or the file of a picture or a model, before.</source>
   <translation>Kopieren Sie zuvor ein Bild oder die Datei eines Bildes oder Modells.</translation>
  </message>
  <message>
   <source>Paste a picture or a model</source>
   <translation>Bild oder Modell einfügen</translation>
  </message>
  <message>
   <source>There is nothing to paste here.</source>
   <translation>Hier gibt es nichts einzufügen.</translation>
  </message>
 </context>
 <context>
  <name>PathRow</name>
  <message>
   <source>{part}: choose a file…</source>
   <translation>{part}: eine Datei wählen…</translation>
  </message>
 </context>
 <context>
  <name>PictureBar</name>
  <message>
   <source>Reuse</source>
   <translation>Wiederverwenden</translation>
  </message>
  <message>
   <source>Start from this</source>
   <translation>Hiervon ausgehen</translation>
  </message>
  <message>
   <source>What to use of it…</source>
   <translation>Was davon verwendet wird…</translation>
  </message>
 </context>
 <context>
  <name>PictureDeeds</name>
  <message>
   <source>Favourite</source>
   <translation>Favorit</translation>
  </message>
  <message>
   <source>No favourite</source>
   <translation>Kein Favorit</translation>
  </message>
  <message>
   <source>Not rejected</source>
   <translation>Nicht abgelehnt</translation>
  </message>
  <message>
   <source>Rating</source>
   <translation>Bewertung</translation>
  </message>
  <message>
   <source>Rejected</source>
   <translation>Abgelehnt</translation>
  </message>
 </context>
 <context>
  <name>PictureDetails</name>
  <message>
   <source>Copy all</source>
   <translation>Alles kopieren</translation>
  </message>
  <message>
   <source>Copy settings</source>
   <translation>Einstellungen kopieren</translation>
  </message>
  <message>
   <source>How it was made</source>
   <translation>Wie es entstand</translation>
  </message>
  <message>
   <source>How the picture was made</source>
   <translation>Wie das Bild entstand</translation>
  </message>
 </context>
 <context>
  <name>PictureTrash</name>
  <message>
   <source>Delete it in the file manager; this folder may have no trash.</source>
   <translation>Im Dateimanager löschen; dieser Ordner hat vielleicht keinen Papierkorb.</translation>
  </message>
  <message>
   <source>It is still in the trash of your system.</source>
   <translation>Sie ist noch im Papierkorb des Systems.</translation>
  </message>
  <message>
   <source>{name} are in the trash.</source>
   <translation>Im Papierkorb: {name}.</translation>
  </message>
  <message>
   <source>{name} could not be moved to the trash.</source>
   <translation>{name} konnte nicht in den Papierkorb gelegt werden.</translation>
  </message>
  <message>
   <source>{name} could not be put back.</source>
   <translation>{name} konnte nicht zurückgelegt werden.</translation>
  </message>
  <message>
   <source>{name} is in the trash.</source>
   <translation>{name} ist im Papierkorb.</translation>
  </message>
  <message>
   <source>{n} pictures</source>
   <translation>{n} Bilder</translation>
  </message>
 </context>
 <context>
  <name>Places</name>
  <message>
   <source>Create</source>
   <translation>Erstellen</translation>
  </message>
  <message>
   <source>Gallery</source>
   <translation>Galerie</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>Modelle</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Einstel­lungen</translation>
  </message>
 </context>
 <context>
  <name>PlacesList</name>
  <message>
   <source>Places</source>
   <translation>Orte</translation>
  </message>
 </context>
 <context>
  <name>PresetCommands</name>
  <message>
   <source>Remove one that you do not need.</source>
   <translation>Entfernen Sie eine, die nicht gebraucht wird.</translation>
  </message>
  <message>
   <source>The preset {name} is removed.</source>
   <translation>Die Vorlage {name} ist entfernt.</translation>
  </message>
  <message>
   <source>The preset {name} is replaced.</source>
   <translation>Die Vorlage {name} ist ersetzt.</translation>
  </message>
  <message>
   <source>The presets are as they were before.</source>
   <translation>Die Vorlagen sind wieder wie zuvor.</translation>
  </message>
  <message>
   <source>There is room for {n} presets.</source>
   <translation>Es ist Platz für {n} Vorlagen.</translation>
  </message>
  <message>
   <source>{name} is a preset now.</source>
   <translation>{name} ist jetzt eine Vorlage.</translation>
  </message>
  <message>
   <source>{old} is called {name} now.</source>
   <translation>{old} heißt jetzt {name}.</translation>
  </message>
 </context>
 <context>
  <name>PresetDialog</name>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>For example: Portrait, 30 steps</source>
   <translation>Zum Beispiel: Porträt, 30 Schritte</translation>
  </message>
  <message>
   <source>Name</source>
   <translation>Name</translation>
  </message>
  <message>
   <source>Replace</source>
   <translation>Ersetzen</translation>
  </message>
  <message>
   <source>Save</source>
   <translation>Speichern</translation>
  </message>
  <message>
   <source>Save as a preset</source>
   <translation>Als Vorlage speichern</translation>
  </message>
  <message>
   <source>There is a preset of this name: it will be replaced.</source>
   <translation>Eine Vorlage dieses Namens gibt es schon: Sie wird ersetzt.</translation>
  </message>
  <message>
   <source>What it holds</source>
   <translation>Was sie enthält</translation>
  </message>
 </context>
 <context>
  <name>PresetPanel</name>
  <message>
   <source>Earlier prompts</source>
   <translation>Frühere Prompts</translation>
  </message>
  <message>
   <source>Named sets of settings</source>
   <translation>Benannte Sätze von Einstellungen</translation>
  </message>
  <message>
   <source>Presets</source>
   <translation>Vorlagen</translation>
  </message>
 </context>
 <context>
  <name>PresetsDialog</name>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Drag a preset to its place, or move it with {up} and {down}.</source>
   <translation>Eine Vorlage an ihren Platz ziehen oder mit {up} und {down} verschieben.</translation>
  </message>
  <message>
   <source>Presets</source>
   <translation>Vorlagen</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Rename</source>
   <translation>Umbenennen</translation>
  </message>
  <message>
   <source>Save as a preset…</source>
   <translation>Als Vorlage speichern…</translation>
  </message>
  <message>
   <source>There are no presets yet. One keeps settings of the form under a name of your own.</source>
   <translation>Es gibt noch keine Vorlagen. Eine hält Einstellungen des Formulars unter einem eigenen Namen fest.</translation>
  </message>
  <message>
   <source>This name is empty, or another preset has it.</source>
   <translation>Dieser Name ist leer oder gehört einer anderen Vorlage.</translation>
  </message>
  <message>
   <source>Use</source>
   <translation>Verwenden</translation>
  </message>
 </context>
 <context>
  <name>PromptCommands</name>
  <message>
   <source>All earlier prompts are forgotten.</source>
   <translation>Alle früheren Prompts sind vergessen.</translation>
  </message>
  <message>
   <source>The prompt is forgotten.</source>
   <translation>Der Prompt ist vergessen.</translation>
  </message>
  <message>
   <source>The prompts are replaced by earlier ones.</source>
   <translation>Die Prompts sind durch frühere ersetzt.</translation>
  </message>
 </context>
 <context>
  <name>PromptDelegate</name>
  <message>
   <source>{time} · without: {words}</source>
   <translation>{time} · ohne: {words}</translation>
  </message>
 </context>
 <context>
  <name>PromptPanel</name>
  <message>
   <source>Create it</source>
   <translation>Anlegen</translation>
  </message>
  <message>
   <source>Write {name}</source>
   <translation>{name} schreiben</translation>
  </message>
 </context>
 <context>
  <name>PromptsDialog</name>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Earlier prompts</source>
   <translation>Frühere Prompts</translation>
  </message>
  <message>
   <source>Forget</source>
   <translation>Vergessen</translation>
  </message>
  <message>
   <source>Forget all</source>
   <translation>Alle vergessen</translation>
  </message>
  <message>
   <source>No earlier prompt has these words.</source>
   <translation>Kein früherer Prompt enthält diese Wörter.</translation>
  </message>
  <message>
   <source>Prompts that you make pictures of are listed here.</source>
   <translation>Hier stehen Prompts, aus denen Bilder entstanden.</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>Suchen</translation>
  </message>
  <message>
   <source>Search in earlier prompts</source>
   <translation>In früheren Prompts suchen</translation>
  </message>
  <message>
   <source>They are kept on this computer only.</source>
   <translation>Sie bleiben nur auf diesem Computer.</translation>
  </message>
  <message>
   <source>Use</source>
   <translation>Verwenden</translation>
  </message>
 </context>
 <context>
  <name>QueueButton</name>
  <message numerus="yes">
   <source>%n failed</source>
   <translation>
    <numerusform>%n fehlgeschlagen</numerusform>
    <numerusform>%n fehlgeschlagen</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <source>%n waiting</source>
   <translation>
    <numerusform>%n wartend</numerusform>
    <numerusform>%n wartend</numerusform>
   </translation>
  </message>
  <message>
   <source>Paused</source>
   <translation>Angehalten</translation>
  </message>
  <message>
   <source>Paused · {n}</source>
   <translation>Angehalten · {n}</translation>
  </message>
  <message>
   <source>Queue</source>
   <translation>Warteschlange</translation>
  </message>
  <message>
   <source>Queue · {n}</source>
   <translation>Warteschlange · {n}</translation>
  </message>
  <message>
   <source>Queue: {state}</source>
   <translation>Warteschlange: {state}</translation>
  </message>
  <message>
   <source>paused</source>
   <translation>angehalten</translation>
  </message>
 </context>
 <context>
  <name>QueueCommands</name>
  <message>
   <source>It left the queue; Generate puts it back as you change it.</source>
   <translation>Es ist nicht mehr in der Warteschlange; „Erzeugen“ reiht es mit Ihren Änderungen wieder ein.</translation>
  </message>
  <message>
   <source>The queue has another order.</source>
   <translation>Die Reihenfolge der Warteschlange ist geändert.</translation>
  </message>
  <message>
   <source>This picture's settings are in the form.</source>
   <translation>Die Einstellungen dieses Bildes stehen im Formular.</translation>
  </message>
 </context>
 <context>
  <name>QueueDrawer</name>
  <message>
   <source>Cancel all</source>
   <translation>Alle abbrechen</translation>
  </message>
  <message>
   <source>Clear failed</source>
   <translation>Fehlgeschlagene entfernen</translation>
  </message>
  <message>
   <source>Clear finished</source>
   <translation>Fertige entfernen</translation>
  </message>
  <message>
   <source>Close the queue</source>
   <translation>Warteschlange schließen</translation>
  </message>
  <message>
   <source>No picture is waiting</source>
   <translation>Kein Bild wartet</translation>
  </message>
  <message>
   <source>Nothing waits. Generate puts pictures here.</source>
   <translation>Nichts wartet. „Erzeugen“ reiht Bilder hier ein.</translation>
  </message>
  <message>
   <source>One picture to make</source>
   <translation>Ein Bild zu erzeugen</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>Anhalten</translation>
  </message>
  <message>
   <source>Queue</source>
   <translation>Warteschlange</translation>
  </message>
  <message>
   <source>Resume</source>
   <translation>Fortsetzen</translation>
  </message>
  <message>
   <source>about {time} in all</source>
   <translation>insgesamt etwa {time}</translation>
  </message>
  <message>
   <source>paused</source>
   <translation>angehalten</translation>
  </message>
  <message>
   <source>{n} failed</source>
   <translation>{n} fehlgeschlagen</translation>
  </message>
  <message>
   <source>{n} finished</source>
   <translation>{n} fertig</translation>
  </message>
  <message>
   <source>{n} pictures to make</source>
   <translation>{n} Bilder zu erzeugen</translation>
  </message>
 </context>
 <context>
  <name>QueueItemModel</name>
  <message>
   <source>Failed</source>
   <translation>Fehlgeschlagen</translation>
  </message>
  <message>
   <source>Finished</source>
   <translation>Fertig</translation>
  </message>
  <message>
   <source>Now</source>
   <translation>Jetzt</translation>
  </message>
  <message>
   <source>Stopping…</source>
   <translation>Wird angehalten…</translation>
  </message>
  <message>
   <source>Without a prompt</source>
   <translation>Ohne Prompt</translation>
  </message>
 </context>
 <context>
  <name>QueueList</name>
  <message>
   <source>Pictures in the queue</source>
   <translation>Bilder in der Warteschlange</translation>
  </message>
  <message>
   <source>Retry at smaller sizes</source>
   <translation>In kleineren Größen noch einmal versuchen</translation>
  </message>
  <message>
   <source>Retry at {size}</source>
   <translation>Noch einmal mit {size}</translation>
  </message>
  <message>
   <source>Retry on {device}</source>
   <translation>Auf {device} noch einmal versuchen</translation>
  </message>
  <message>
   <source>Retry with another seed</source>
   <translation>Mit anderem Seed noch einmal versuchen</translation>
  </message>
 </context>
 <context>
  <name>Rail</name>
  <message>
   <source>Places</source>
   <translation>Orte</translation>
  </message>
 </context>
 <context>
  <name>RangeField</name>
  <message>
   <source>{low}–{high} %</source>
   <translation>{low}–{high} %</translation>
  </message>
 </context>
 <context>
  <name>RatingField</name>
  <message>
   <source>Rating</source>
   <translation>Bewertung</translation>
  </message>
  <message>
   <source>Rating (0 to 5)</source>
   <translation>Bewertung (0 bis 5)</translation>
  </message>
 </context>
 <context>
  <name>RecentButton</name>
  <message>
   <source>Recent</source>
   <translation>Zuletzt</translation>
  </message>
  <message>
   <source>Recent searches</source>
   <translation>Letzte Suchen</translation>
  </message>
 </context>
 <context>
  <name>ReferenceCard</name>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
 </context>
 <context>
  <name>ReferenceCommands</name>
  <message>
   <source>{name} is removed.</source>
   <translation>{name} ist entfernt.</translation>
  </message>
  <message>
   <source>{name} will be shown to the model.</source>
   <translation>{name} wird dem Modell gezeigt.</translation>
  </message>
 </context>
 <context>
  <name>ReferencePanel</name>
  <message>
   <source>A reference picture</source>
   <translation>Ein Referenzbild</translation>
  </message>
  <message>
   <source>Add a reference picture…</source>
   <translation>Referenzbild hinzufügen…</translation>
  </message>
  <message>
   <source>Reference pictures</source>
   <translation>Referenzbilder</translation>
  </message>
  <message>
   <source>Reference pictures: change or combine pictures…</source>
   <translation>Referenzbilder: Bilder ändern oder kombinieren…</translation>
  </message>
  <message>
   <source>Show it to the model</source>
   <translation>Dem Modell zeigen</translation>
  </message>
  <message>
   <source>This model takes no reference pictures: they are left out.</source>
   <translation>Dieses Modell nimmt keine Referenzbilder: Sie werden ausgelassen.</translation>
  </message>
  <message>
   <source>This model takes {n} of them: the others are left out.</source>
   <translation>Dieses Modell nimmt {n} davon: Die anderen werden ausgelassen.</translation>
  </message>
 </context>
 <context>
  <name>RefinerItemModel</name>
  <message>
   <source>None</source>
   <translation>Keiner</translation>
  </message>
 </context>
 <context>
  <name>RefinerPanel</name>
  <message>
   <source>A model that draws the last steps</source>
   <translation>Ein Modell, das die letzten Schritte zeichnet</translation>
  </message>
  <message>
   <source>Refiner</source>
   <translation>Refiner</translation>
  </message>
  <message>
   <source>Takes over at</source>
   <translation>Übernimmt ab</translation>
  </message>
  <message>
   <source>The part of the run after which it takes over</source>
   <translation>Der Teil des Laufs, nach dem es übernimmt</translation>
  </message>
 </context>
 <context>
  <name>RestartOffer</name>
  <message>
   <source>Restart now</source>
   <translation>Jetzt neu starten</translation>
  </message>
  <message>
   <source>The form is kept, and the queue goes on: a running picture begins anew.</source>
   <translation>Das Formular bleibt, und die Warteschlange läuft weiter; ein laufendes Bild beginnt von vorn.</translation>
  </message>
 </context>
 <context>
  <name>RuntimesDialog</name>
  <message>
   <source>A runtime that was downloaded elsewhere</source>
   <translation>Eine anderswo heruntergeladene Laufzeit</translation>
  </message>
  <message>
   <source>All devices…</source>
   <translation>Alle Geräte…</translation>
  </message>
  <message>
   <source>Checking your hardware, once…</source>
   <translation>Die Hardware wird einmalig geprüft…</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Graphics card</source>
   <translation>Grafikkarte</translation>
  </message>
  <message>
   <source>Hide what is for other computers</source>
   <translation>Laufzeiten für andere Computer ausblenden</translation>
  </message>
  <message>
   <source>In use</source>
   <translation>Wird verwendet</translation>
  </message>
  <message>
   <source>Install from a file…</source>
   <translation>Aus einer Datei installieren…</translation>
  </message>
  <message>
   <source>Looking at its hardware…</source>
   <translation>Die Hardware wird ermittelt…</translation>
  </message>
  <message>
   <source>None was found: the processor makes the pictures.</source>
   <translation>Keine gefunden: Der Prozessor erzeugt die Bilder.</translation>
  </message>
  <message>
   <source>Processor</source>
   <translation>Prozessor</translation>
  </message>
  <message>
   <source>Runtimes</source>
   <translation>Laufzeiten</translation>
  </message>
  <message>
   <source>Runtimes (*.whl *.zip);;All files (*)</source>
   <translation>Laufzeiten (*.whl *.zip);;Alle Dateien (*)</translation>
  </message>
  <message>
   <source>Safelight has what it needs for this computer: there is nothing to add.</source>
   <translation>Safelight hat, was es für diesen Computer braucht: Es gibt nichts hinzuzufügen.</translation>
  </message>
  <message>
   <source>Show what is for other computers ({n})</source>
   <translation>Laufzeiten für andere Computer zeigen ({n})</translation>
  </message>
  <message>
   <source>This computer</source>
   <translation>Dieser Computer</translation>
  </message>
 </context>
 <context>
  <name>Scopes</name>
  <message>
   <source>Among LoRAs and embeddings</source>
   <translation>Bei LoRAs und Embeddings</translation>
  </message>
  <message>
   <source>Among compared pictures</source>
   <translation>Zwischen verglichenen Bildern</translation>
  </message>
  <message>
   <source>Among earlier prompts</source>
   <translation>Bei früheren Prompts</translation>
  </message>
  <message>
   <source>Among presets</source>
   <translation>Bei Vorlagen</translation>
  </message>
  <message>
   <source>Among the gallery's thumbnails</source>
   <translation>Bei den Vorschaubildern der Galerie</translation>
  </message>
  <message>
   <source>Among your models</source>
   <translation>Bei den eigenen Modellen</translation>
  </message>
  <message>
   <source>In Create</source>
   <translation>Unter „Erstellen“</translation>
  </message>
  <message>
   <source>In a picture that is shown large</source>
   <translation>In einem groß gezeigten Bild</translation>
  </message>
  <message>
   <source>In a prompt</source>
   <translation>In einem Prompt</translation>
  </message>
  <message>
   <source>In every window</source>
   <translation>In jedem Fenster</translation>
  </message>
  <message>
   <source>In questions for files</source>
   <translation>In Dateidialogen</translation>
  </message>
  <message>
   <source>In the form</source>
   <translation>Im Formular</translation>
  </message>
  <message>
   <source>In the gallery</source>
   <translation>In der Galerie</translation>
  </message>
  <message>
   <source>In the gallery's viewer</source>
   <translation>Beim einzelnen Bild der Galerie</translation>
  </message>
  <message>
   <source>In the queue</source>
   <translation>In der Warteschlange</translation>
  </message>
  <message>
   <source>In the whole window</source>
   <translation>Im ganzen Fenster</translation>
  </message>
  <message>
   <source>On pictures</source>
   <translation>Auf Bildern</translation>
  </message>
  <message>
   <source>On the canvas</source>
   <translation>Auf der Leinwand</translation>
  </message>
  <message>
   <source>Where there is a search</source>
   <translation>Wo es eine Suche gibt</translation>
  </message>
  <message>
   <source>While a mask is painted</source>
   <translation>Beim Malen einer Maske</translation>
  </message>
 </context>
 <context>
  <name>SearchBar</name>
  <message>
   <source>Any date</source>
   <translation>Jedes Datum</translation>
  </message>
  <message>
   <source>Any model</source>
   <translation>Jedes Modell</translation>
  </message>
  <message>
   <source>Any program</source>
   <translation>Jedes Programm</translation>
  </message>
  <message>
   <source>Any rating</source>
   <translation>Jede Bewertung</translation>
  </message>
  <message>
   <source>Any size</source>
   <translation>Jede Größe</translation>
  </message>
  <message>
   <source>At least {n} MP</source>
   <translation>Mindestens {n} MP</translation>
  </message>
  <message>
   <source>Best rated first</source>
   <translation>Beste zuerst</translation>
  </message>
  <message>
   <source>By name</source>
   <translation>Name</translation>
  </message>
  <message>
   <source>Clear</source>
   <translation>Leeren</translation>
  </message>
  <message>
   <source>Date</source>
   <translation>Datum</translation>
  </message>
  <message>
   <source>Favourites</source>
   <translation>Favoriten</translation>
  </message>
  <message>
   <source>Hide rejected pictures</source>
   <translation>Abgelehnte Bilder ausblenden</translation>
  </message>
  <message>
   <source>Landscape</source>
   <translation>Querformat</translation>
  </message>
  <message>
   <source>LoRA</source>
   <translation>LoRA</translation>
  </message>
  <message>
   <source>Made by</source>
   <translation>Erzeugt mit</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>Newest first</source>
   <translation>Neueste zuerst</translation>
  </message>
  <message>
   <source>Oldest first</source>
   <translation>Älteste zuerst</translation>
  </message>
  <message>
   <source>Only rejected</source>
   <translation>Nur abgelehnte</translation>
  </message>
  <message>
   <source>Portrait</source>
   <translation>Hochformat</translation>
  </message>
  <message>
   <source>Rating</source>
   <translation>Bewertung</translation>
  </message>
  <message>
   <source>Rejected</source>
   <translation>Abgelehnte</translation>
  </message>
  <message>
   <source>Show all pictures again</source>
   <translation>Wieder alle Bilder zeigen</translation>
  </message>
  <message>
   <source>Show only rejected pictures</source>
   <translation>Nur abgelehnte Bilder zeigen</translation>
  </message>
  <message>
   <source>Show rejected pictures, too</source>
   <translation>Auch abgelehnte Bilder zeigen</translation>
  </message>
  <message>
   <source>Size</source>
   <translation>Größe</translation>
  </message>
  <message>
   <source>Square</source>
   <translation>Quadratisch</translation>
  </message>
  <message>
   <source>The last 30 days</source>
   <translation>Die letzten 30 Tage</translation>
  </message>
  <message>
   <source>The last 7 days</source>
   <translation>Die letzten 7 Tage</translation>
  </message>
  <message>
   <source>This year</source>
   <translation>Dieses Jahr</translation>
  </message>
  <message>
   <source>Today</source>
   <translation>Heute</translation>
  </message>
  <message>
   <source>With or without LoRAs</source>
   <translation>Mit oder ohne LoRAs</translation>
  </message>
  <message>
   <source>With rejected</source>
   <translation>Mit abgelehnten</translation>
  </message>
  <message>
   <source>{stars} and more</source>
   <translation>{stars} und mehr</translation>
  </message>
 </context>
 <context>
  <name>SecondPassCard</name>
  <message>
   <source>A model for this pass</source>
   <translation>Ein Modell für diesen Durchgang</translation>
  </message>
  <message>
   <source>An upscaler</source>
   <translation>Ein Upscaler</translation>
  </message>
  <message>
   <source>Do not enlarge the picture</source>
   <translation>Das Bild nicht vergrößern</translation>
  </message>
  <message>
   <source>Empty for as many as the first pass has.</source>
   <translation>Leer für so viele wie im ersten Durchgang.</translation>
  </message>
  <message>
   <source>Factor</source>
   <translation>Faktor</translation>
  </message>
  <message>
   <source>More</source>
   <translation>Mehr</translation>
  </message>
  <message>
   <source>Steps</source>
   <translation>Schritte</translation>
  </message>
  <message>
   <source>Strength</source>
   <translation>Stärke</translation>
  </message>
  <message>
   <source>Upscaler</source>
   <translation>Upscaler</translation>
  </message>
  <message>
   <source>in tiles</source>
   <translation>in Kacheln</translation>
  </message>
  <message>
   <source>keep</source>
   <translation>behalten</translation>
  </message>
  <message>
   <source>prompts of its own</source>
   <translation>eigene Prompts</translation>
  </message>
  <message>
   <source>reinvent</source>
   <translation>erfinden</translation>
  </message>
 </context>
 <context>
  <name>SecondPassCommands</name>
  <message>
   <source>The picture is not enlarged a second time.</source>
   <translation>Das Bild wird kein zweites Mal vergrößert.</translation>
  </message>
  <message>
   <source>{name} enlarges the next pictures.</source>
   <translation>{name} vergrößert die nächsten Bilder.</translation>
  </message>
 </context>
 <context>
  <name>SecondPassMore</name>
  <message>
   <source>As in the first pass</source>
   <translation>Wie im ersten Durchgang</translation>
  </message>
  <message>
   <source>As in the first pass.</source>
   <translation>Wie im ersten Durchgang.</translation>
  </message>
  <message>
   <source>Empty for noise of the picture's own seed.</source>
   <translation>Leer für Rauschen aus dem Seed des Bildes.</translation>
  </message>
  <message>
   <source>Empty for that of the first pass.</source>
   <translation>Leer für die des ersten Durchgangs.</translation>
  </message>
  <message>
   <source>Guidance</source>
   <translation>Führung</translation>
  </message>
  <message>
   <source>Height</source>
   <translation>Höhe</translation>
  </message>
  <message>
   <source>In place of the factor; the height follows while it is empty.</source>
   <translation>Anstelle des Faktors; die Höhe ergibt sich, solange sie leer ist.</translation>
  </message>
  <message>
   <source>In place of the factor; the width follows while it is empty.</source>
   <translation>Anstelle des Faktors; die Breite ergibt sich, solange sie leer ist.</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>Negative prompt of this pass</source>
   <translation>Negativer Prompt dieses Durchgangs</translation>
  </message>
  <message>
   <source>Prompt of this pass</source>
   <translation>Prompt dieses Durchgangs</translation>
  </message>
  <message>
   <source>Sampler</source>
   <translation>Sampler</translation>
  </message>
  <message>
   <source>Schedule</source>
   <translation>Zeitplan</translation>
  </message>
  <message>
   <source>Seed</source>
   <translation>Seed</translation>
  </message>
  <message>
   <source>The side of tiles that are redrawn one by one; empty for the whole.</source>
   <translation>Die Seite von Kacheln, die einzeln neu gemalt werden; leer für das Ganze.</translation>
  </message>
  <message>
   <source>Tiles</source>
   <translation>Kacheln</translation>
  </message>
  <message>
   <source>To the size by</source>
   <translation>Auf die Größe durch</translation>
  </message>
  <message>
   <source>Width</source>
   <translation>Breite</translation>
  </message>
 </context>
 <context>
  <name>SecondPassPanel</name>
  <message>
   <source>Enlarge and redraw</source>
   <translation>Vergrößern und neu malen</translation>
  </message>
  <message>
   <source>Enlarge it once more…</source>
   <translation>Noch einmal vergrößern…</translation>
  </message>
  <message>
   <source>Enlarge: redraw the picture larger (hires fix)…</source>
   <translation>Vergrößern: das Bild größer neu malen (Hires-Fix)…</translation>
  </message>
  <message>
   <source>Left out while a part of a picture is painted: enlarge the result.</source>
   <translation>Wird ausgelassen, solange ein Teil eines Bildes gemalt wird: Vergrößern Sie das Ergebnis.</translation>
  </message>
  <message>
   <source>Left out, as this model draws no picture twice: choose another one for the pass, under More.</source>
   <translation>Wird ausgelassen, da dieses Modell kein Bild zweimal zeichnet: Wählen Sie unter „Mehr“ ein anderes für den Durchgang.</translation>
  </message>
 </context>
 <context>
  <name>SectionHead</name>
  <message>
   <source>closed</source>
   <translation>geschlossen</translation>
  </message>
  <message>
   <source>open</source>
   <translation>offen</translation>
  </message>
 </context>
 <context>
  <name>SeedField</name>
  <message>
   <source>A new seed for each picture</source>
   <translation>Neuer Seed für jedes Bild</translation>
  </message>
  <message>
   <source>Copy the seed</source>
   <translation>Seed kopieren</translation>
  </message>
  <message>
   <source>Keep this seed</source>
   <translation>Diesen Seed behalten</translation>
  </message>
  <message>
   <source>Random</source>
   <translation>Zufällig</translation>
  </message>
  <message>
   <source>Seed</source>
   <translation>Seed</translation>
  </message>
 </context>
 <context>
  <name>Settings</name>
  <message>
   <source>A darkroom by its safelight.</source>
   <translation>Eine Dunkelkammer bei ihrem Licht.</translation>
  </message>
  <message>
   <source>A number that goes on in each folder</source>
   <translation>Eine fortlaufende Nummer in jedem Ordner</translation>
  </message>
  <message>
   <source>A tenth of the size; at a quality of 100 every pixel is kept.</source>
   <translation>Ein Zehntel der Größe; bei einer Qualität von 100 bleibt jedes Pixel.</translation>
  </message>
  <message>
   <source>About</source>
   <translation>Über</translation>
  </message>
  <message>
   <source>All keys</source>
   <translation>Alle Tasten</translation>
  </message>
  <message>
   <source>All keys are the usual ones again.</source>
   <translation>Für alle Tasten gelten wieder die Vorgaben.</translation>
  </message>
  <message>
   <source>All settings are in {path}. What you change there acts at once, too.</source>
   <translation>Alle Einstellungen stehen in {path}. Was dort geändert wird, wirkt auch sofort.</translation>
  </message>
  <message>
   <source>Another folder is used from the next start on.</source>
   <translation>Ein anderer Ordner gilt ab dem nächsten Start.</translation>
  </message>
  <message>
   <source>Asks {place} once a day, when Safelight starts.</source>
   <translation>Fragt einmal am Tag bei {place} nach, wenn Safelight startet.</translation>
  </message>
  <message>
   <source>Check automatically</source>
   <translation>Automatisch suchen</translation>
  </message>
  <message>
   <source>Choose all</source>
   <translation>Alles auswählen</translation>
  </message>
  <message>
   <source>Choose or open what is marked</source>
   <translation>Das Markierte wählen oder öffnen</translation>
  </message>
  <message>
   <source>Colours</source>
   <translation>Farben</translation>
  </message>
  <message>
   <source>Copy</source>
   <translation>Kopieren</translation>
  </message>
  <message>
   <source>Copy the report</source>
   <translation>Bericht kopieren</translation>
  </message>
  <message>
   <source>Dark</source>
   <translation>Dunkel</translation>
  </message>
  <message>
   <source>Develops latent images on your own computer.</source>
   <translation>Entwickelt latente Bilder auf dem eigenen Computer.</translation>
  </message>
  <message>
   <source>Devices</source>
   <translation>Geräte</translation>
  </message>
  <message>
   <source>Downloads</source>
   <translation>Downloads</translation>
  </message>
  <message>
   <source>Every pixel as it was made; the largest files.</source>
   <translation>Jedes Pixel, wie es entstand; die größten Dateien.</translation>
  </message>
  <message>
   <source>File names</source>
   <translation>Dateinamen</translation>
  </message>
  <message>
   <source>File of the settings</source>
   <translation>Einstellungsdatei</translation>
  </message>
  <message>
   <source>Folder</source>
   <translation>Ordner</translation>
  </message>
  <message>
   <source>Folders</source>
   <translation>Ordner</translation>
  </message>
  <message>
   <source>Format</source>
   <translation>Format</translation>
  </message>
  <message>
   <source>Further folders with LoRAs, also those of other tools.</source>
   <translation>Weitere Ordner mit LoRAs, auch die anderer Programme.</translation>
  </message>
  <message>
   <source>Go back, or close what is open</source>
   <translation>Zurückgehen oder Offenes schließen</translation>
  </message>
  <message>
   <source>Go to the next control</source>
   <translation>Zum nächsten Bedienelement</translation>
  </message>
  <message>
   <source>High contrast</source>
   <translation>Hoher Kontrast</translation>
  </message>
  <message>
   <source>Its package has no text of the licence.</source>
   <translation>Das Paket enthält keinen Text der Lizenz.</translation>
  </message>
  <message>
   <source>Keep the prompt and every setting in each picture, so that it can be made again.</source>
   <translation>Den Prompt und alle Einstellungen in jedem Bild aufbewahren, damit es wieder erzeugt werden kann.</translation>
  </message>
  <message>
   <source>Keys of actions where they are not the usual ones; none for no key.</source>
   <translation>Tasten von Aktionen, wo sie nicht die üblichen sind; „none“ für keine Taste.</translation>
  </message>
  <message>
   <source>Keys that stay as they are</source>
   <translation>Tasten, die bleiben, wie sie sind</translation>
  </message>
  <message>
   <source>Language</source>
   <translation>Sprache</translation>
  </message>
  <message>
   <source>Licences</source>
   <translation>Lizenzen</translation>
  </message>
  <message>
   <source>Light</source>
   <translation>Hell</translation>
  </message>
  <message>
   <source>Light, dark or high contrast, as the system is set.</source>
   <translation>Hell, dunkel oder mit hohem Kontrast, wie das System eingestellt ist.</translation>
  </message>
  <message>
   <source>Like the system</source>
   <translation>Wie das System</translation>
  </message>
  <message>
   <source>Lists of words, such as animals.txt, which a prompt names as __animals__.</source>
   <translation>Wortlisten wie tiere.txt, die ein Prompt als __tiere__ nennt.</translation>
  </message>
  <message>
   <source>LoRA folders…</source>
   <translation>LoRA-Ordner…</translation>
  </message>
  <message>
   <source>LoRAs</source>
   <translation>LoRAs</translation>
  </message>
  <message>
   <source>Look</source>
   <translation>Aussehen</translation>
  </message>
  <message>
   <source>Look for a newer version now, or go back to the one before.</source>
   <translation>Jetzt nach einer neueren Version suchen oder zur vorigen zurückkehren.</translation>
  </message>
  <message>
   <source>Machines that were asked</source>
   <translation>Kontaktierte Computer</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>Modelle</translation>
  </message>
  <message>
   <source>Models are looked for in this folder and below it; LoRAs, embeddings and VAEs in its usual subfolders.</source>
   <translation>Modelle werden in diesem Ordner und darunter gesucht; LoRAs, Embeddings und VAEs in seinen üblichen Unterordnern.</translation>
  </message>
  <message>
   <source>Move a card by its grip</source>
   <translation>Eine Karte an ihrem Griff verschieben</translation>
  </message>
  <message>
   <source>Move a picture that is larger than its view</source>
   <translation>Ein Bild verschieben, das größer ist als seine Fläche</translation>
  </message>
  <message>
   <source>Move a slider, or the line between two pictures</source>
   <translation>Einen Regler bewegen, oder die Linie zwischen zwei Bildern</translation>
  </message>
  <message>
   <source>Move among pictures, rows and tools</source>
   <translation>Zwischen Bildern, Zeilen und Werkzeugen wechseln</translation>
  </message>
  <message>
   <source>New pictures are saved in this folder.</source>
   <translation>Neue Bilder werden in diesem Ordner gespeichert.</translation>
  </message>
  <message>
   <source>None so far.</source>
   <translation>Bisher keine.</translation>
  </message>
  <message>
   <source>Nothing is sent</source>
   <translation>Es wird nichts gesendet</translation>
  </message>
  <message>
   <source>Open its folder</source>
   <translation>Seinen Ordner öffnen</translation>
  </message>
  <message>
   <source>PNG keeps every pixel; WebP and JPEG are smaller and lose a little.</source>
   <translation>PNG bewahrt jedes Pixel; WebP und JPEG sind kleiner und verlieren ein wenig.</translation>
  </message>
  <message>
   <source>Paper by day.</source>
   <translation>Papier bei Tag.</translation>
  </message>
  <message>
   <source>Parts that make Safelight faster on certain devices.</source>
   <translation>Teile, die Safelight auf bestimmten Geräten schneller machen.</translation>
  </message>
  <message>
   <source>Paste a picture, a model or settings</source>
   <translation>Ein Bild, ein Modell oder Einstellungen einfügen</translation>
  </message>
  <message>
   <source>Pictures</source>
   <translation>Bilder</translation>
  </message>
  <message>
   <source>Pictures have their prompts in them. So that a prompt need not be read again, the cache also keeps the numbers that a model made of the last ones, without their words. To delete them, clear the cache in the section on devices.</source>
   <translation>Bilder enthalten ihre Prompts. Damit ein Prompt nicht noch einmal gelesen werden muss, bleiben im Cache außerdem die Zahlen, die ein Modell aus den letzten gemacht hat, ohne deren Wörter. Sie verschwinden, wenn Sie den Cache im Abschnitt über Geräte leeren.</translation>
  </message>
  <message>
   <source>Press a key's button, then the new keys.</source>
   <translation>Die Schaltfläche einer Taste drücken, dann die neuen Tasten.</translation>
  </message>
  <message>
   <source>Previews</source>
   <translation>Vorschau</translation>
  </message>
  <message>
   <source>Privacy</source>
   <translation>Datenschutz</translation>
  </message>
  <message>
   <source>Put a slider back</source>
   <translation>Einen Regler zurücksetzen</translation>
  </message>
  <message>
   <source>Quality</source>
   <translation>Qualität</translation>
  </message>
  <message>
   <source>Reduce motion</source>
   <translation>Weniger Bewegung</translation>
  </message>
  <message>
   <source>Report for help</source>
   <translation>Bericht für die Fehlersuche</translation>
  </message>
  <message>
   <source>Reset all keys</source>
   <translation>Alle Tasten zurücksetzen</translation>
  </message>
  <message>
   <source>Runtimes</source>
   <translation>Laufzeiten</translation>
  </message>
  <message>
   <source>Safelight connects to another machine only when you ask it for a download or for updates. It keeps the names of those machines here.</source>
   <translation>Safelight verbindet sich nur dann mit einem anderen Computer, wenn ein Download oder Updates verlangt werden. Die Namen dieser Computer stehen hier.</translation>
  </message>
  <message>
   <source>Safelight is free software, and made of the work of others.</source>
   <translation>Safelight ist freie Software und aus der Arbeit anderer gemacht.</translation>
  </message>
  <message>
   <source>Safelight was not installed by one of its own installers, so it is not updated from here.</source>
   <translation>Safelight wurde nicht mit einem eigenen Installationsprogramm installiert und kann sich deshalb nicht von hier aktualisieren.</translation>
  </message>
  <message>
   <source>Safelight {version}</source>
   <translation>Safelight {version}</translation>
  </message>
  <message>
   <source>Save the report</source>
   <translation>Bericht speichern</translation>
  </message>
  <message>
   <source>Save…</source>
   <translation>Speichern…</translation>
  </message>
  <message>
   <source>Settings in each picture</source>
   <translation>Einstellungen in jedem Bild</translation>
  </message>
  <message>
   <source>Shortcuts</source>
   <translation>Tastenkürzel</translation>
  </message>
  <message>
   <source>Show the picture while it is being made.</source>
   <translation>Das Bild zeigen, während es entsteht.</translation>
  </message>
  <message>
   <source>Small, and opened by every program.</source>
   <translation>Klein und von jedem Programm zu öffnen.</translation>
  </message>
  <message>
   <source>Stars beside pictures</source>
   <translation>Sterne neben Bildern</translation>
  </message>
  <message>
   <source>Text of the licence</source>
   <translation>Text der Lizenz</translation>
  </message>
  <message>
   <source>The colours of the window.</source>
   <translation>Die Farben des Fensters.</translation>
  </message>
  <message>
   <source>The day it was made</source>
   <translation>Der Tag der Entstehung</translation>
  </message>
  <message>
   <source>The first words of the prompt</source>
   <translation>Die ersten Wörter des Prompts</translation>
  </message>
  <message>
   <source>The guidance</source>
   <translation>Die Guidance</translation>
  </message>
  <message>
   <source>The height in pixels</source>
   <translation>Die Höhe in Pixeln</translation>
  </message>
  <message>
   <source>The language of the window, from the next start on.</source>
   <translation>Die Sprache des Fensters, ab dem nächsten Start.</translation>
  </message>
  <message>
   <source>The language of this computer, or else English.</source>
   <translation>Die Sprache dieses Computers, sonst Englisch.</translation>
  </message>
  <message>
   <source>The name of the model</source>
   <translation>Der Name des Modells</translation>
  </message>
  <message>
   <source>The names of new pictures; words in braces stand for facts of each picture.</source>
   <translation>Die Namen neuer Bilder; Wörter in Klammern stehen für Angaben zu jedem Bild.</translation>
  </message>
  <message>
   <source>The number of steps</source>
   <translation>Die Zahl der Schritte</translation>
  </message>
  <message>
   <source>The quality of WebP and JPEG: higher is better and larger.</source>
   <translation>Die Qualität von WebP und JPEG: Höher ist besser und größer.</translation>
  </message>
  <message>
   <source>The report cannot be saved: {reason}.</source>
   <translation>Der Bericht kann nicht gespeichert werden: {reason}.</translation>
  </message>
  <message>
   <source>The report is in the clipboard.</source>
   <translation>Der Bericht ist in der Zwischenablage.</translation>
  </message>
  <message>
   <source>The report is saved as {path}.</source>
   <translation>Der Bericht ist als {path} gespeichert.</translation>
  </message>
  <message>
   <source>The sampler</source>
   <translation>Der Sampler</translation>
  </message>
  <message>
   <source>The seed</source>
   <translation>Der Seed</translation>
  </message>
  <message>
   <source>The text cursor does not blink, and lists and menus open at once.</source>
   <translation>Die Textmarke blinkt nicht, und Listen und Menüs öffnen sich sofort.</translation>
  </message>
  <message>
   <source>The time it was made</source>
   <translation>Die Uhrzeit der Entstehung</translation>
  </message>
  <message>
   <source>The width in pixels</source>
   <translation>Die Breite in Pixeln</translation>
  </message>
  <message>
   <source>Updates</source>
   <translation>Updates</translation>
  </message>
  <message>
   <source>Versions</source>
   <translation>Versionen</translation>
  </message>
  <message>
   <source>Versions, devices, changed settings and the last lines of the logs. Your name, your home folder and your prompts are left out. Nothing is sent: read it, then give it to whom you like.</source>
   <translation>Versionen, Geräte, geänderte Einstellungen und die letzten Zeilen der Protokolle. Ihr Name, Ihr persönlicher Ordner und Ihre Prompts sind weggelassen. Es wird nichts gesendet: Lesen Sie den Bericht, und geben Sie ihn dann, wem Sie mögen.</translation>
  </message>
  <message>
   <source>What computes the pictures, and how fast it is.</source>
   <translation>Was die Bilder berechnet und wie schnell es ist.</translation>
  </message>
  <message>
   <source>What is being downloaded, and what has arrived.</source>
   <translation>Was heruntergeladen wird und was angekommen ist.</translation>
  </message>
  <message>
   <source>What is kept of prompts</source>
   <translation>Was von Prompts bleibt</translation>
  </message>
  <message>
   <source>White on black, with clear outlines.</source>
   <translation>Weiß auf Schwarz, mit klaren Umrissen.</translation>
  </message>
  <message>
   <source>Wildcards</source>
   <translation>Platzhalter</translation>
  </message>
  <message>
   <source>Write stars and rejections into a file beside each picture, which darktable, digiKam and Lightroom read.</source>
   <translation>Sterne und Ablehnungen in eine Datei neben jedem Bild schreiben, die darktable, digiKam und Lightroom lesen.</translation>
  </message>
  <message>
   <source>Your prompts, pictures, models and settings stay on this computer. Safelight counts nothing, reports nothing, and works without any network.</source>
   <translation>Ihre Prompts, Bilder, Modelle und Einstellungen bleiben auf diesem Computer. Safelight zählt nichts, meldet nichts und arbeitet ohne jedes Netzwerk.</translation>
  </message>
  <message>
   <source>animation accessibility</source>
   <translation>Animation Barrierefreiheit</translation>
  </message>
  <message>
   <source>diagnostics logs bug problem support</source>
   <translation>Diagnose Protokolle Fehler Problem Hilfe</translation>
  </message>
  <message>
   <source>folder path</source>
   <translation>Ordner Pfad</translation>
  </message>
  <message>
   <source>graphics card GPU processor memory cache</source>
   <translation>Grafikkarte GPU Prozessor Speicher Zwischenspeicher</translation>
  </message>
  <message>
   <source>language German English translation</source>
   <translation>Sprache Deutsch Englisch Übersetzung language</translation>
  </message>
  <message>
   <source>licence license copyright open source</source>
   <translation>Lizenz license copyright Urheberrecht open source</translation>
  </message>
  <message>
   <source>metadata prompt privacy</source>
   <translation>Metadaten Prompt Datenschutz</translation>
  </message>
  <message>
   <source>packs CUDA DirectML OpenVINO</source>
   <translation>Pakete CUDA DirectML OpenVINO</translation>
  </message>
  <message>
   <source>pattern naming placeholder</source>
   <translation>Muster Benennung Platzhalter</translation>
  </message>
  <message>
   <source>privacy cache prompt text</source>
   <translation>Datenschutz Cache Prompt Text</translation>
  </message>
  <message>
   <source>privacy network internet host connection telemetry</source>
   <translation>Privatsphäre Datenschutz Netzwerk Internet Host Verbindung Telemetrie</translation>
  </message>
  <message>
   <source>privacy telemetry tracking</source>
   <translation>Privatsphäre Datenschutz Telemetrie Tracking</translation>
  </message>
  <message>
   <source>rating XMP sidecar darktable digiKam Lightroom</source>
   <translation>Bewertung XMP Sidecar darktable digiKam Lightroom</translation>
  </message>
  <message>
   <source>see its text</source>
   <translation>siehe den Text</translation>
  </message>
  <message>
   <source>shortcuts keyboard</source>
   <translation>Tastenkürzel Tastatur shortcuts</translation>
  </message>
  <message>
   <source>theme colours dark mode light accessibility</source>
   <translation>Thema Farben dunkel hell Modus Barrierefreiheit</translation>
  </message>
  <message>
   <source>updates</source>
   <translation>Updates Aktualisierung</translation>
  </message>
  <message>
   <source>updates version</source>
   <translation>Updates Version Aktualisierung</translation>
  </message>
  <message>
   <source>version about</source>
   <translation>Version über</translation>
  </message>
  <message>
   <source>{host}: first on {first}, last on {last}</source>
   <translation>{host}: zuerst am {first}, zuletzt am {last}</translation>
  </message>
  <message>
   <source>{host}: on {first}</source>
   <translation>{host}: am {first}</translation>
  </message>
 </context>
 <context>
  <name>SettingsPage</name>
  <message>
   <source>1 setting found.</source>
   <translation>1 Einstellung gefunden.</translation>
  </message>
  <message>
   <source>No setting has these words.</source>
   <translation>Keine Einstellung enthält diese Wörter.</translation>
  </message>
  <message>
   <source>Search settings</source>
   <translation>Einstellung suchen</translation>
  </message>
  <message>
   <source>Sections of the settings</source>
   <translation>Abschnitte der Einstellungen</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Einstellungen</translation>
  </message>
  <message>
   <source>{number} of {count}. Enter shows the next.</source>
   <translation>{number} von {count}. Die Eingabetaste zeigt das Nächste.</translation>
  </message>
 </context>
 <context>
  <name>SettingsState</name>
  <message>
   <source>Every setting is as usual.</source>
   <translation>Für alle Einstellungen gelten die Vorgaben.</translation>
  </message>
  <message>
   <source>See that {path} can be written.</source>
   <translation>Prüfen, ob {path} geschrieben werden kann.</translation>
  </message>
  <message>
   <source>The file of the settings cannot be read.</source>
   <translation>Die Einstellungsdatei kann nicht gelesen werden.</translation>
  </message>
  <message>
   <source>The file was kept as {path}.</source>
   <translation>Die Datei wurde als {path} aufbewahrt.</translation>
  </message>
  <message>
   <source>The settings cannot be kept for the next start.</source>
   <translation>Die Einstellungen können nicht für den nächsten Start gespeichert werden.</translation>
  </message>
  <message>
   <source>The settings from before the update are used.</source>
   <translation>Es gelten die Einstellungen von vor der Aktualisierung.</translation>
  </message>
  <message>
   <source>The settings stay as they were until it is mended.</source>
   <translation>Die Einstellungen bleiben, wie sie sind, bis er behoben ist.</translation>
  </message>
  <message>
   <source>The settings were left by a newer version of Safelight.</source>
   <translation>Die Einstellungen stammen von einer neueren Version von Safelight.</translation>
  </message>
  <message>
   <source>There is a mistake in {path}: {detail}.</source>
   <translation>In {path} ist ein Fehler: {detail}.</translation>
  </message>
  <message>
   <source>These settings have values that make no sense: {names}.</source>
   <translation>Diese Einstellungen haben ungültige Werte: {names}.</translation>
  </message>
  <message>
   <source>They are as usual. The file is {path}.</source>
   <translation>Für sie gelten die Vorgaben. Die Datei ist {path}.</translation>
  </message>
 </context>
 <context>
  <name>ShortcutRow</name>
  <message>
   <source>Press this button, then the keys. Backspace: no key.</source>
   <translation>Diese Schaltfläche drücken, dann die Tasten. Rücktaste: keine Taste.</translation>
  </message>
  <message>
   <source>Use it here</source>
   <translation>Hier verwenden</translation>
  </message>
  <message>
   <source>Use {key} again</source>
   <translation>Wieder {key} verwenden</translation>
  </message>
  <message>
   <source>also {keys}</source>
   <translation>auch {keys}</translation>
  </message>
  <message>
   <source>{key} alone is for typing and moving about. Add Ctrl or Alt to it.</source>
   <translation>{key} allein dient zum Schreiben und Bewegen. Strg oder Alt hinzunehmen.</translation>
  </message>
  <message>
   <source>{key} is the key of “{action}”: {scope}.</source>
   <translation>{key} ist die Taste von „{action}“: {scope}.</translation>
  </message>
  <message>
   <source>{key} opens the menu “{menu}”.</source>
   <translation>{key} öffnet das Menü „{menu}“.</translation>
  </message>
  <message>
   <source>{key} pastes, in every program.</source>
   <translation>{key} fügt ein, in jedem Programm.</translation>
  </message>
 </context>
 <context>
  <name>SiteKeyRow</name>
  <message>
   <source>Keep it</source>
   <translation>Behalten</translation>
  </message>
  <message>
   <source>Where to make one</source>
   <translation>Wo man einen bekommt</translation>
  </message>
  <message>
   <source>Your key</source>
   <translation>Ihr Schlüssel</translation>
  </message>
  <message>
   <source>Your key for {host}</source>
   <translation>Ihr Schlüssel für {host}</translation>
  </message>
 </context>
 <context>
  <name>SizeChoice</name>
  <message>
   <source>2 times</source>
   <translation>2-fach</translation>
  </message>
  <message>
   <source>4 times</source>
   <translation>4-fach</translation>
  </message>
  <message>
   <source>Another shape is stretched.</source>
   <translation>Eine andere Form wird gestreckt.</translation>
  </message>
  <message>
   <source>Each side four times as long.</source>
   <translation>Jede Seite viermal so lang.</translation>
  </message>
  <message>
   <source>Each side twice as long.</source>
   <translation>Jede Seite doppelt so lang.</translation>
  </message>
  <message>
   <source>Height in pixels</source>
   <translation>Höhe in Pixeln</translation>
  </message>
  <message>
   <source>Longest side</source>
   <translation>Längste Seite</translation>
  </message>
  <message>
   <source>Longest side in pixels</source>
   <translation>Längste Seite in Pixeln</translation>
  </message>
  <message>
   <source>Size</source>
   <translation>Größe</translation>
  </message>
  <message>
   <source>The other side follows.</source>
   <translation>Die andere Seite folgt.</translation>
  </message>
  <message>
   <source>Width and height</source>
   <translation>Breite und Höhe</translation>
  </message>
  <message>
   <source>Width in pixels</source>
   <translation>Breite in Pixeln</translation>
  </message>
  <message>
   <source>by</source>
   <translation>mal</translation>
  </message>
 </context>
 <context>
  <name>SizeField</name>
  <message>
   <source>Height</source>
   <translation>Höhe</translation>
  </message>
  <message>
   <source>Landscape</source>
   <translation>Querformat</translation>
  </message>
  <message>
   <source>Portrait</source>
   <translation>Hochformat</translation>
  </message>
  <message>
   <source>Size</source>
   <translation>Größe</translation>
  </message>
  <message>
   <source>Square</source>
   <translation>Quadratisch</translation>
  </message>
  <message>
   <source>Swap width and height</source>
   <translation>Breite und Höhe tauschen</translation>
  </message>
  <message>
   <source>Wide</source>
   <translation>Breitbild</translation>
  </message>
  <message>
   <source>Width</source>
   <translation>Breite</translation>
  </message>
 </context>
 <context>
  <name>SliderField</name>
  <message>
   <source>{name}, slider</source>
   <translation>{name}, Schieberegler</translation>
  </message>
 </context>
 <context>
  <name>StatusPanel</name>
  <message>
   <source>A network that is being loaded may be finished first</source>
   <translation>Ein Netz, das gerade geladen wird, wird vielleicht noch fertig geladen</translation>
  </message>
  <message>
   <source>Paused</source>
   <translation>Angehalten</translation>
  </message>
  <message>
   <source>Picture {n} of {all}</source>
   <translation>Bild {n} von {all}</translation>
  </message>
  <message>
   <source>Picture {n} of {all} is finished.</source>
   <translation>Bild {n} von {all} ist fertig.</translation>
  </message>
  <message>
   <source>Progress</source>
   <translation>Fortschritt</translation>
  </message>
  <message>
   <source>Ready</source>
   <translation>Bereit</translation>
  </message>
  <message>
   <source>Starting the engine again…</source>
   <translation>Die Engine wird neu gestartet…</translation>
  </message>
  <message>
   <source>Starting the engine…</source>
   <translation>Die Engine wird gestartet…</translation>
  </message>
  <message>
   <source>Starting…</source>
   <translation>Startet…</translation>
  </message>
  <message>
   <source>Stopping…</source>
   <translation>Wird angehalten…</translation>
  </message>
  <message>
   <source>The engine is not answering</source>
   <translation>Die Engine antwortet nicht</translation>
  </message>
  <message>
   <source>The engine is stopped</source>
   <translation>Die Engine ist beendet</translation>
  </message>
  <message>
   <source>The picture is finished.</source>
   <translation>Das Bild ist fertig.</translation>
  </message>
  <message>
   <source>The picture was cancelled.</source>
   <translation>Das Bild wurde abgebrochen.</translation>
  </message>
  <message>
   <source>The queue starts no further picture until it is resumed.</source>
   <translation>Weitere Bilder beginnen erst, wenn die Warteschlange fortgesetzt wird.</translation>
  </message>
  <message>
   <source>Waiting for the engine…</source>
   <translation>Auf die Engine wird gewartet…</translation>
  </message>
  <message>
   <source>about {time} left</source>
   <translation>noch etwa {time}</translation>
  </message>
  <message>
   <source>almost done</source>
   <translation>fast fertig</translation>
  </message>
  <message>
   <source>step {done} of {total}</source>
   <translation>Schritt {done} von {total}</translation>
  </message>
  <message>
   <source>this takes longer than it did before</source>
   <translation>es dauert länger als zuvor</translation>
  </message>
  <message>
   <source>{phase} · step {done} of {total}</source>
   <translation>{phase} · Schritt {done} von {total}</translation>
  </message>
  <message>
   <source>{phase}, about {time}</source>
   <translation>{phase}, etwa {time}</translation>
  </message>
  <message>
   <source>{phase}…</source>
   <translation>{phase}…</translation>
  </message>
 </context>
 <context>
  <name>Stepper</name>
  <message>
   <source>{name}: one fewer</source>
   <translation>{name}: eins weniger</translation>
  </message>
  <message>
   <source>{name}: one more</source>
   <translation>{name}: eins mehr</translation>
  </message>
 </context>
 <context>
  <name>StripPanel</name>
  <message>
   <source>Earlier pictures</source>
   <translation>Frühere Bilder</translation>
  </message>
  <message>
   <source>Pictures you make are kept here</source>
   <translation>Hier bleiben die erzeugten Bilder</translation>
  </message>
 </context>
 <context>
  <name>UnresolvedLoraRow</name>
  <message>
   <source>Choose the file of {name}</source>
   <translation>Die Datei von {name} wählen</translation>
  </message>
  <message>
   <source>Choose…</source>
   <translation>Wählen…</translation>
  </message>
  <message>
   <source>Find it…</source>
   <translation>Suchen…</translation>
  </message>
  <message>
   <source>Find {name}</source>
   <translation>{name} suchen</translation>
  </message>
 </context>
 <context>
  <name>UpdatesDialog</name>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>Check for updates</source>
   <translation>Nach Updates suchen</translation>
  </message>
  <message>
   <source>Check once a day, when Safelight starts</source>
   <translation>Einmal am Tag suchen, wenn Safelight startet</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Download and install</source>
   <translation>Herunterladen und installieren</translation>
  </message>
  <message>
   <source>Go back to {version}</source>
   <translation>Zurück zu {version}</translation>
  </message>
  <message>
   <source>It was not installed by one of its own installers, so it is not updated from here.</source>
   <translation>Es wurde nicht mit einem eigenen Installationsprogramm installiert und kann sich deshalb nicht von hier aktualisieren.</translation>
  </message>
  <message>
   <source>News in this version</source>
   <translation>Neues in dieser Version</translation>
  </message>
  <message>
   <source>Progress of the update</source>
   <translation>Fortschritt des Updates</translation>
  </message>
  <message>
   <source>Restart Safelight now</source>
   <translation>Safelight jetzt neu starten</translation>
  </message>
  <message>
   <source>Safelight {version}</source>
   <translation>Safelight {version}</translation>
  </message>
  <message>
   <source>Stay with {version}</source>
   <translation>Bei {version} bleiben</translation>
  </message>
  <message>
   <source>Updates</source>
   <translation>Updates</translation>
  </message>
 </context>
 <context>
  <name>UpscaleButton</name>
  <message>
   <source>Upscale</source>
   <translation>Vergrößern</translation>
  </message>
 </context>
 <context>
  <name>UpscaleCommands</name>
  <message>
   <source>It is beside the picture before, which stays as it is.</source>
   <translation>Es liegt neben dem Bild davor, das bleibt, wie es ist.</translation>
  </message>
  <message>
   <source>The picture before is not known.</source>
   <translation>Das Bild davor ist nicht bekannt.</translation>
  </message>
  <message>
   <source>They are beside the pictures before, which stay as they are.</source>
   <translation>Sie liegen neben den Bildern davor, die bleiben, wie sie sind.</translation>
  </message>
  <message>
   <source>This picture was not made larger here, or the one before is gone.</source>
   <translation>Dieses Bild wurde nicht hier vergrößert, oder das davor ist nicht mehr da.</translation>
  </message>
  <message>
   <source>{name} is saved, {width} by {height} pixels.</source>
   <translation>{name} ist gespeichert, {width} mal {height} Pixel.</translation>
  </message>
  <message>
   <source>{n} of {count} pictures are upscaled.</source>
   <translation>{n} von {count} Bildern sind vergrößert.</translation>
  </message>
  <message>
   <source>{n} pictures are upscaled.</source>
   <translation>{n} Bilder sind vergrößert.</translation>
  </message>
 </context>
 <context>
  <name>UpscalePopup</name>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>Choose a file…</source>
   <translation>Datei wählen …</translation>
  </message>
  <message>
   <source>In the folder {folder}</source>
   <translation>Im Ordner {folder}</translation>
  </message>
  <message>
   <source>Looking for upscalers in your folders of models…</source>
   <translation>Upscaler werden in Ihren Modellordnern gesucht …</translation>
  </message>
  <message>
   <source>Put the file of an upscaler, such as RealESRGAN, into a folder of models.</source>
   <translation>Legen Sie die Datei eines Upscalers, etwa RealESRGAN, in einen Modellordner.</translation>
  </message>
  <message>
   <source>Size</source>
   <translation>Größe</translation>
  </message>
  <message>
   <source>The file of an upscaler</source>
   <translation>Die Datei eines Upscalers</translation>
  </message>
  <message>
   <source>Up to {size}</source>
   <translation>Bis zu {size}</translation>
  </message>
  <message>
   <source>Upscale</source>
   <translation>Vergrößern</translation>
  </message>
  <message>
   <source>Upscale with</source>
   <translation>Vergrößern mit</translation>
  </message>
  <message>
   <source>Upscalers ({endings});;All files (*)</source>
   <translation>Upscaler ({endings});;Alle Dateien (*)</translation>
  </message>
  <message>
   <source>With</source>
   <translation>Mit</translation>
  </message>
  <message>
   <source>Working it out…</source>
   <translation>Wird berechnet …</translation>
  </message>
  <message>
   <source>a moment</source>
   <translation>ein Augenblick</translation>
  </message>
  <message>
   <source>about {time}</source>
   <translation>etwa {time}</translation>
  </message>
  <message>
   <source>roughly {time}</source>
   <translation>ungefähr {time}</translation>
  </message>
  <message>
   <source>time not known yet</source>
   <translation>Zeit noch nicht bekannt</translation>
  </message>
  <message>
   <source>{n} pictures</source>
   <translation>{n} Bilder</translation>
  </message>
  <message>
   <source>{n} tiles</source>
   <translation>{n} Kacheln</translation>
  </message>
  <message>
   <source>{size} of memory</source>
   <translation>{size} Speicher</translation>
  </message>
  <message>
   <source>{size} of memory, {free} is free</source>
   <translation>{size} Speicher, {free} sind frei</translation>
  </message>
 </context>
 <context>
  <name>Viewer</name>
  <message>
   <source>Back to all pictures</source>
   <translation>Zurück zu allen Bildern</translation>
  </message>
  <message>
   <source>Esc</source>
   <translation>Esc</translation>
  </message>
  <message>
   <source>Picture after</source>
   <translation>Nächstes Bild</translation>
  </message>
  <message>
   <source>Picture before</source>
   <translation>Voriges Bild</translation>
  </message>
 </context>
 <context>
  <name>WildcardsDialog</name>
  <message>
   <source>A name has letters, digits, spaces, - and /, and no __.</source>
   <translation>Ein Name hat Buchstaben, Ziffern, Leerzeichen, - und /, und kein __.</translation>
  </message>
  <message>
   <source>A prompt names a list with two underscores on each side: __animal__.</source>
   <translation>Ein Prompt nennt eine Liste mit je zwei Unterstrichen davor und danach: __animal__.</translation>
  </message>
  <message>
   <source>Add to the prompt</source>
   <translation>In den Prompt einfügen</translation>
  </message>
  <message>
   <source>Begin with an example</source>
   <translation>Mit einem Beispiel beginnen</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Entries</source>
   <translation>Einträge</translation>
  </message>
  <message>
   <source>Give the list a name.</source>
   <translation>Der Liste einen Namen geben.</translation>
  </message>
  <message>
   <source>Lists</source>
   <translation>Listen</translation>
  </message>
  <message>
   <source>Lists of words</source>
   <translation>Wortlisten</translation>
  </message>
  <message>
   <source>Move the list to the trash</source>
   <translation>Liste in den Papierkorb legen</translation>
  </message>
  <message>
   <source>Name</source>
   <translation>Name</translation>
  </message>
  <message>
   <source>Name, e.g. animal</source>
   <translation>Name, z. B. tier</translation>
  </message>
  <message>
   <source>New list</source>
   <translation>Neue Liste</translation>
  </message>
  <message>
   <source>No lists yet. A prompt with __sky__ in it has another of your words for the sky in each picture.</source>
   <translation>Noch keine Listen. Ein Prompt, in dem __sky__ steht, hat in jedem Bild ein anderes Ihrer Wörter für den Himmel.</translation>
  </message>
  <message>
   <source>One entry a line. A picture takes one of them, drawn with its seed.</source>
   <translation>Ein Eintrag je Zeile. Ein Bild nimmt einen davon, gezogen mit seinem Seed.</translation>
  </message>
  <message>
   <source>Open the folder</source>
   <translation>Ordner öffnen</translation>
  </message>
  <message>
   <source>Prompts draw from the first {size} of this list. A longer one is edited in a text editor: open the folder.</source>
   <translation>Prompts ziehen aus den ersten {size} dieser Liste. Eine längere wird in einem Texteditor bearbeitet: Ordner öffnen.</translation>
  </message>
  <message>
   <source>Save</source>
   <translation>Speichern</translation>
  </message>
  <message>
   <source>Some letters of this list cannot be read: its file is not in the encoding UTF-8. Save it in UTF-8 with a text editor, and it can be edited here.</source>
   <translation>Einige Zeichen dieser Liste sind nicht lesbar: Ihre Datei ist nicht in UTF-8 gespeichert. In einem Texteditor als UTF-8 gespeichert, kann sie hier bearbeitet werden.</translation>
  </message>
  <message>
   <source>The text was too long to be pasted whole: an entry has room for {n} characters.</source>
   <translation>Der Text war zu lang, um ganz eingefügt zu werden: Ein Eintrag hat Platz für {n} Zeichen.</translation>
  </message>
  <message>
   <source>There is a list of this name.</source>
   <translation>Eine Liste dieses Namens gibt es schon.</translation>
  </message>
  <message>
   <source>Undo</source>
   <translation>Rückgängig</translation>
  </message>
  <message>
   <source>Write __{name}__ in the prompt. 1 entry, such as: {some}</source>
   <translation>Im Prompt __{name}__ schreiben. 1 Eintrag, etwa: {some}</translation>
  </message>
  <message>
   <source>Write __{name}__ in the prompt. {n} entries, such as: {some}</source>
   <translation>Im Prompt __{name}__ schreiben. {n} Einträge, etwa: {some}</translation>
  </message>
  <message>
   <source>list</source>
   <translation>Liste</translation>
  </message>
 </context>
 <context>
  <name>WindowMenu</name>
  <message>
   <source>Bring all to front</source>
   <translation>Alle nach vorne bringen</translation>
  </message>
  <message>
   <source>Close window</source>
   <translation>Fenster schließen</translation>
  </message>
  <message>
   <source>Minimise</source>
   <translation>Im Dock ablegen</translation>
  </message>
  <message>
   <source>Window</source>
   <translation>Fenster</translation>
  </message>
  <message>
   <source>Zoom</source>
   <translation>Zoomen</translation>
  </message>
 </context>
 <context>
  <name>WordChips</name>
  <message>
   <source>Trigger word {word}</source>
   <translation>Triggerwort {word}</translation>
  </message>
  <message>
   <source>{n} more</source>
   <translation>{n} weitere</translation>
  </message>
 </context>
 <context>
  <name>YourModels</name>
  <message>
   <source>1 folder is not there</source>
   <translation>1 Ordner ist nicht da</translation>
  </message>
  <message>
   <source>All</source>
   <translation>Alle</translation>
  </message>
  <message>
   <source>By name</source>
   <translation>Name</translation>
  </message>
  <message>
   <source>Family</source>
   <translation>Familie</translation>
  </message>
  <message>
   <source>Kind</source>
   <translation>Art</translation>
  </message>
  <message>
   <source>Largest first</source>
   <translation>Größte zuerst</translation>
  </message>
  <message>
   <source>Looking for your models…</source>
   <translation>Ihre Modelle werden gesucht…</translation>
  </message>
  <message>
   <source>Name, family, trigger word or base model</source>
   <translation>Name, Familie, Triggerwort oder Basismodell</translation>
  </message>
  <message>
   <source>Newest first</source>
   <translation>Neueste zuerst</translation>
  </message>
  <message>
   <source>No model has these words and is of this kind.</source>
   <translation>Kein Modell dieser Art enthält diese Wörter.</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>Suchen</translation>
  </message>
  <message>
   <source>Sort</source>
   <translation>Sortieren</translation>
  </message>
  <message>
   <source>Try again</source>
   <translation>Noch einmal versuchen</translation>
  </message>
  <message>
   <source>Your models</source>
   <translation>Ihre Modelle</translation>
  </message>
  <message>
   <source>Your models could not be listed. {reason}</source>
   <translation>Ihre Modelle konnten nicht aufgelistet werden. {reason}</translation>
  </message>
  <message>
   <source>{n} cannot be used</source>
   <translation>{n} nicht verwendbar</translation>
  </message>
  <message>
   <source>{n} folders are not there</source>
   <translation>{n} Ordner sind nicht da</translation>
  </message>
 </context>
 <context>
  <name>ZoomBar</name>
  <message>
   <source>Fitted, {percent}: show at 100 %</source>
   <translation>Eingepasst, {percent}: bei 100 % zeigen</translation>
  </message>
  <message>
   <source>Zoom in</source>
   <translation>Vergrößern</translation>
  </message>
  <message>
   <source>Zoom out</source>
   <translation>Verkleinern</translation>
  </message>
  <message>
   <source>{n} %</source>
   <translation>{n} %</translation>
  </message>
  <message>
   <source>{percent}: fit into the window</source>
   <translation>{percent}: ins Fenster einpassen</translation>
  </message>
 </context>
 <context>
  <name>ZoomView</name>
  <message>
   <source>Picture</source>
   <translation>Bild</translation>
  </message>
 </context>
 <context>
  <name>_GapList</name>
  <message>
   <source>Files that fit: {part}</source>
   <translation>Passende Dateien: {part}</translation>
  </message>
  <message>
   <source>Use it</source>
   <translation>Verwenden</translation>
  </message>
  <message>
   <source>Use this file: {part}</source>
   <translation>Diese Datei verwenden: {part}</translation>
  </message>
  <message>
   <source>{part} is missing, and none of your files has one that fits.</source>
   <translation>{part} fehlt, und keine Ihrer Dateien hat etwas Passendes.</translation>
  </message>
  <message>
   <source>{part} is missing.</source>
   <translation>{part} fehlt.</translation>
  </message>
  <message>
   <source>{part} is missing. Of your files this one fits best:</source>
   <translation>{part} fehlt. Von Ihren Dateien passt diese am besten:</translation>
  </message>
 </context>
 <context>
  <name>_GivenRow</name>
  <message>
   <source>Take all parts from the model again</source>
   <translation>Wieder alle Teile vom Modell nehmen</translation>
  </message>
 </context>
 <context>
  <name>_WordsField</name>
  <message>
   <source>Every word must be found: in the prompts, or in the name of the model, a LoRA, the program or the file. A date is written as 2026-11-23, 2026-11 or 2026, a size as 512x768, a seed as its number. Words in quotes belong together; a word with a minus before it must not be found.</source>
   <translation>Jedes Wort muss vorkommen: in den Prompts oder im Namen des Modells, eines LoRAs, des Programms oder der Datei. Ein Datum wird als 23.11.2026, 2026-11 oder 2026 geschrieben, eine Größe als 512x768, ein Seed als seine Zahl. Wörter in Anführungszeichen gehören zusammen; ein Wort mit einem Minus davor darf nicht vorkommen.</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>Suchen</translation>
  </message>
  <message>
   <source>Search prompts, models, programs, dates, seeds, names…</source>
   <translation>Suchen: Prompts, Modelle, Programme, Datum, Seeds, Namen …</translation>
  </message>
 </context>
 <context>
  <name>checkpoints</name>
  <message>
   <source>1 million weights</source>
   <translation>1 Million Gewichte</translation>
  </message>
  <message>
   <source>Denoiser (UNet or transformer)</source>
   <translation>Entrauscher (UNet oder Transformer)</translation>
  </message>
  <message>
   <source>Few models, and some distilled ones.</source>
   <translation>Wenige Modelle und manche destillierten.</translation>
  </message>
  <message>
   <source>Models on straight paths, such as Flux.</source>
   <translation>Modelle auf geraden Wegen wie Flux.</translation>
  </message>
  <message>
   <source>Models such as CosXL.</source>
   <translation>Modelle wie CosXL.</translation>
  </message>
  <message>
   <source>Models such as Playground 2.5.</source>
   <translation>Modelle wie Playground 2.5.</translation>
  </message>
  <message>
   <source>Second text encoder</source>
   <translation>Zweiter Textencoder</translation>
  </message>
  <message>
   <source>Small, quick and always there: it comes with Safelight.</source>
   <translation>Klein, schnell und immer da: kommt mit Safelight.</translation>
  </message>
  <message>
   <source>Stable Diffusion 2 at 768 pixels, and models called v-pred.</source>
   <translation>Stable Diffusion 2 mit 768 Pixeln und Modelle, die v-pred heißen.</translation>
  </message>
  <message>
   <source>Text encoder</source>
   <translation>Textencoder</translation>
  </message>
  <message>
   <source>The noise: most models.</source>
   <translation>Das Rauschen: die meisten Modelle.</translation>
  </message>
  <message>
   <source>Third text encoder</source>
   <translation>Dritter Textencoder</translation>
  </message>
  <message>
   <source>VAE</source>
   <translation>VAE</translation>
  </message>
  <message>
   <source>as in EDM</source>
   <translation>wie in EDM</translation>
  </message>
  <message>
   <source>epsilon</source>
   <translation>Epsilon</translation>
  </message>
  <message>
   <source>flow</source>
   <translation>Flow</translation>
  </message>
  <message>
   <source>in {folder}</source>
   <translation>in {folder}</translation>
  </message>
  <message>
   <source>the picture</source>
   <translation>das Bild</translation>
  </message>
  <message>
   <source>v (velocity)</source>
   <translation>v (Geschwindigkeit)</translation>
  </message>
  <message>
   <source>v, as in EDM</source>
   <translation>v, wie in EDM</translation>
  </message>
  <message>
   <source>{name} (of this {family} model)</source>
   <translation>{name} (von diesem {family}-Modell)</translation>
  </message>
  <message>
   <source>{n} billion weights</source>
   <translation>{n} Milliarden Gewichte</translation>
  </message>
  <message>
   <source>{n} million weights</source>
   <translation>{n} Millionen Gewichte</translation>
  </message>
  <message>
   <source>{what} (to be confirmed by the first picture)</source>
   <translation>{what} (das erste Bild bestätigt es)</translation>
  </message>
 </context>
 <context>
  <name>copying</name>
  <message>
   <source>Copied</source>
   <translation>Kopiert</translation>
  </message>
 </context>
 <context>
  <name>devices</name>
  <message>
   <source>About {time} for a picture with Stable Diffusion 1.5, 512 pixels.</source>
   <translation>Etwa {time} für ein Bild mit Stable Diffusion 1.5, 512 Pixel.</translation>
  </message>
  <message>
   <source>Comes last, because a job failed on it: {reason}</source>
   <translation>Kommt zuletzt, weil ein Auftrag darauf fehlschlug: {reason}</translation>
  </message>
  <message>
   <source>In use: {reason}.</source>
   <translation>Wird verwendet: {reason}.</translation>
  </message>
  <message>
   <source>Not tried yet.</source>
   <translation>Noch nicht probiert.</translation>
  </message>
  <message>
   <source>This was measured while the computer was busy.</source>
   <translation>Das wurde gemessen, während der Computer beschäftigt war.</translation>
  </message>
  <message>
   <source>Works in full precision only.</source>
   <translation>Funktioniert nur in voller Genauigkeit.</translation>
  </message>
  <message>
   <source>Works in {precisions} only.</source>
   <translation>Funktioniert nur in {precisions}.</translation>
  </message>
  <message>
   <source>Works when it is asked for by name.</source>
   <translation>Funktioniert, wenn es ausdrücklich gewählt wird.</translation>
  </message>
  <message>
   <source>Works.</source>
   <translation>Funktioniert.</translation>
  </message>
  <message>
   <source>{n} ms</source>
   <translation>{n} ms</translation>
  </message>
 </context>
 <context>
  <name>downloads</name>
  <message>
   <source>Checking what has arrived · {amount}</source>
   <translation>Das Angekommene wird geprüft · {amount}</translation>
  </message>
  <message>
   <source>Here · {size}</source>
   <translation>Hier · {size}</translation>
  </message>
  <message>
   <source>Only {host} is asked, and nothing is downloaded yet.</source>
   <translation>Nur {host} wird gefragt, und noch wird nichts heruntergeladen.</translation>
  </message>
  <message>
   <source>Paused · {amount}</source>
   <translation>Angehalten · {amount}</translation>
  </message>
  <message>
   <source>Waits for the one before it</source>
   <translation>Wartet auf den Download davor</translation>
  </message>
 </context>
 <context>
  <name>embeddings</name>
  <message>
   <source>1 vector</source>
   <translation>1 Vektor</translation>
  </message>
  <message>
   <source>Has no effect: it is for {purpose}, the model is another.</source>
   <translation>Ohne Wirkung: Es ist für {purpose}, das Modell ist ein anderes.</translation>
  </message>
  <message>
   <source>Has no effect: {problem}</source>
   <translation>Ohne Wirkung: {problem}</translation>
  </message>
  <message>
   <source>Only some of the text encoders take it: it is for {purpose}.</source>
   <translation>Nur ein Teil der Textencoder nimmt es: Es ist für {purpose}.</translation>
  </message>
  <message>
   <source>Prompts as in {tool} cannot have its name: rename the file.</source>
   <translation>Prompts wie in {tool} können seinen Namen nicht enthalten: Benennen Sie die Datei um.</translation>
  </message>
  <message>
   <source>{n} vectors</source>
   <translation>{n} Vektoren</translation>
  </message>
 </context>
 <context>
  <name>engine</name>
  <message>
   <source> and {count} more</source>
   <translation> und {count} weitere</translation>
  </message>
  <message>
   <source>, about {time}</source>
   <translation>, etwa {time}</translation>
  </message>
  <message>
   <source>--accept-licences accepts them.</source>
   <translation>--accept-licences nimmt sie an.</translation>
  </message>
  <message>
   <source>.{operator}() has {numbers:,} numbers for {prompts:,} prompts</source>
   <translation>.{operator}() hat {numbers:,} Zahlen für {prompts:,} Prompts</translation>
  </message>
  <message>
   <source>.{operator}() takes numbers alone</source>
   <translation>.{operator}() nimmt nur Zahlen</translation>
  </message>
  <message>
   <source>0 keeps the picture, 1 redraws all of it.</source>
   <translation>0 bewahrt das Bild, 1 zeichnet alles neu.</translation>
  </message>
  <message>
   <source>1024 pixels in four steps, and changes pictures by what the prompt says.</source>
   <translation>1024 Pixel in vier Schritten; ändert auch Bilder nach dem Prompt.</translation>
  </message>
  <message>
   <source>1024 pixels, English and Chinese prompts; Turbo needs eight steps.</source>
   <translation>1024 Pixel, englische und chinesische Prompts; Turbo braucht acht Schritte.</translation>
  </message>
  <message>
   <source>1024 pixels, any style, long prompts and negative prompts; large files.</source>
   <translation>1024 Pixel, jeder Stil, lange Prompts und negative Prompts; große Dateien.</translation>
  </message>
  <message>
   <source>1024 pixels, follows long prompts closely; large files, and much time.</source>
   <translation>1024 Pixel, folgt langen Prompts genau; große Dateien und viel Zeit.</translation>
  </message>
  <message>
   <source>1024 pixels, long prompts and negative prompts; large files.</source>
   <translation>1024 Pixel, lange Prompts und negative Prompts; große Dateien.</translation>
  </message>
  <message>
   <source>1024 pixels, more detail and more time: also Pony, Illustrious, NoobAI.</source>
   <translation>1024 Pixel, mehr Details, mehr Zeit: auch Pony, Illustrious, NoobAI.</translation>
  </message>
  <message>
   <source>20 to 30 steps are enough for most pictures.</source>
   <translation>20 bis 30 Schritte reichen für die meisten Bilder.</translation>
  </message>
  <message>
   <source>512 or 768 pixels: 2.0, 2.1 and few others.</source>
   <translation>512 oder 768 Pixel: 2.0, 2.1 und wenige andere.</translation>
  </message>
  <message>
   <source>512 pixels, quick, and the most LoRAs: 1.4, 1.5 and what grew of them.</source>
   <translation>512 Pixel, schnell, die meisten LoRAs: 1.4, 1.5 und was daraus entstand.</translation>
  </message>
  <message>
   <source>&lt;lora:{name}:[1:0:0.5]&gt; is a strength that changes; a tag in brackets is not.</source>
   <translation>&lt;lora:{name}:[1:0:0.5]&gt; ist eine Stärke, die sich ändert; ein Tag in Klammern ist es nicht.</translation>
  </message>
  <message>
   <source>&lt;{kind}:{name}&gt; in the prompt had no effect.</source>
   <translation>&lt;{kind}:{name}&gt; im Prompt wirkte nicht.</translation>
  </message>
  <message>
   <source>A LoRA changes {layer} together with other layers, and not by adding to it.</source>
   <translation>Eine LoRA ändert {layer} zusammen mit anderen Schichten und nicht durch Addieren.</translation>
  </message>
  <message>
   <source>A canvas cannot grow where only what is masked is painted.</source>
   <translation>Eine Leinwand kann nicht wachsen, wo nur das Maskierte gemalt wird.</translation>
  </message>
  <message>
   <source>A canvas grows around a picture</source>
   <translation>Eine Leinwand wächst um ein Bild herum</translation>
  </message>
  <message>
   <source>A control layer was left out: its picture is not known.</source>
   <translation>Eine Steuerebene wurde weggelassen: Ihr Bild ist nicht bekannt.</translation>
  </message>
  <message>
   <source>A control layer was left out: its picture is not known. Its network is {name}.</source>
   <translation>Eine Steuerebene wurde weggelassen: Ihr Bild ist nicht bekannt. Ihr Netz ist {name}.</translation>
  </message>
  <message>
   <source>A copy of the weights in the cache was damaged; what was made with it was not kept, and was made again without it.</source>
   <translation>Eine Kopie der Gewichte im Zwischenspeicher war beschädigt; was damit entstand, wurde verworfen und ohne sie neu gemacht.</translation>
  </message>
  <message>
   <source>A drawing of dark lines on white, turned into white lines on black.</source>
   <translation>Eine Zeichnung aus dunklen Linien auf Weiß, umgekehrt in weiße Linien auf Schwarz.</translation>
  </message>
  <message>
   <source>A file is damaged, or a strength is too high.</source>
   <translation>Eine Datei ist beschädigt oder eine Stärke zu hoch.</translation>
  </message>
  <message>
   <source>A hypernetwork adds layers to the attention that no LoRA has; this program has none.</source>
   <translation>Ein Hypernetzwerk fügt der Attention Schichten hinzu, die keine LoRA hat; dieses Programm kennt keine.</translation>
  </message>
  <message>
   <source>A mask says which part of a picture is painted</source>
   <translation>Eine Maske sagt, welcher Teil eines Bildes gemalt wird</translation>
  </message>
  <message>
   <source>A newer version may be able to read it: look where you got this one.</source>
   <translation>Eine neuere Version kann sie vielleicht lesen: dort nachsehen, woher diese stammt.</translation>
  </message>
  <message>
   <source>A newer version of Safelight left a file that this one cannot read; what was in it before the update is used.</source>
   <translation>Eine neuere Version von Safelight hat eine Datei hinterlassen, die diese nicht lesen kann; verwendet wird ihr Inhalt vor dem Update.</translation>
  </message>
  <message>
   <source>A part of the file of stars and favourites is damaged; some may be missing.</source>
   <translation>Ein Teil der Datei mit Sternen und Favoriten ist beschädigt; einige können fehlen.</translation>
  </message>
  <message>
   <source>A part of the queue's file is damaged; jobs may be missing.</source>
   <translation>Ein Teil der Datei der Warteschlange ist beschädigt; Aufträge können fehlen.</translation>
  </message>
  <message>
   <source>A picture attends to one reference picture at a time.</source>
   <translation>Ein Bild richtet sich nach einem Referenzbild auf einmal.</translation>
  </message>
  <message>
   <source>A picture of which a part is painted has no second passes.</source>
   <translation>Ein Bild, von dem ein Teil gemalt wird, hat keine zweiten Durchgänge.</translation>
  </message>
  <message>
   <source>A picture of {width} × {height} needs about {peak_bytes:.2f} GB of memory; {most:.2f} GB may be used.</source>
   <translation>Ein Bild von {width} × {height} braucht etwa {peak_bytes:.2f} GB Speicher; {most:.2f} GB dürfen verwendet werden.</translation>
  </message>
  <message>
   <source>A picture of {width} × {height} needs about {peak_bytes:.2f} GB of this computer's memory, beside that of {device}; {most:.2f} GB may be used.</source>
   <translation>Ein Bild von {width} × {height} braucht neben dem Speicher von {device} etwa {peak_bytes:.2f} GB vom Speicher dieses Computers; {most:.2f} GB dürfen verwendet werden.</translation>
  </message>
  <message>
   <source>A picture of {width} × {height} ran out of memory on {device}, while {doing}.</source>
   <translation>Bei einem Bild von {width} × {height} reichte der Speicher auf {device} nicht, während {doing}.</translation>
  </message>
  <message>
   <source>A picture of {width} × {height} would fit.</source>
   <translation>Ein Bild von {width} × {height} würde passen.</translation>
  </message>
  <message>
   <source>A picture to be redrawn has no weight or range.</source>
   <translation>Ein Bild, das neu gezeichnet wird, hat kein Gewicht und keinen Bereich.</translation>
  </message>
  <message>
   <source>A picture with seamless edges cannot be redrawn in tiles.</source>
   <translation>Ein Bild mit nahtlosen Rändern kann nicht in Kacheln neu gezeichnet werden.</translation>
  </message>
  <message>
   <source>A reference acts on the whole picture.</source>
   <translation>Eine Referenz wirkt auf das ganze Bild.</translation>
  </message>
  <message>
   <source>A reference picture and a ControlNet-LLLite do not go together.</source>
   <translation>Ein Referenzbild und ein ControlNet-LLLite gehen nicht zusammen.</translation>
  </message>
  <message>
   <source>A reference picture and guidance by attention do not go together.</source>
   <translation>Ein Referenzbild und Führung durch Aufmerksamkeit gehen nicht zusammen.</translation>
  </message>
  <message>
   <source>A reference picture has no weight or range.</source>
   <translation>Ein Referenzbild hat weder Gewicht noch Bereich.</translation>
  </message>
  <message>
   <source>A tensor in the file is of texts, or in parts.</source>
   <translation>Ein Tensor in der Datei ist aus Texten oder in Teilen.</translation>
  </message>
  <message>
   <source>A text has characters that are not valid.</source>
   <translation>Ein Text enthält ungültige Zeichen.</translation>
  </message>
  <message>
   <source>A value in the file is no tensor.</source>
   <translation>Ein Wert in der Datei ist kein Tensor.</translation>
  </message>
  <message>
   <source>A web page came in place of {file}.</source>
   <translation>Statt {file} kam eine Webseite.</translation>
  </message>
  <message>
   <source>AMD does not list {name} for MIGraphX</source>
   <translation>AMD führt {name} nicht für MIGraphX auf</translation>
  </message>
  <message>
   <source>AND begins a part beyond the {most} that can be composed</source>
   <translation>mit AND beginnt ein Teil nach den {most}, die zusammengesetzt werden können</translation>
  </message>
  <message>
   <source>Add a control layer with the picture that it follows.</source>
   <translation>Fügen Sie eine Steuerebene mit dem Bild hinzu, dem es folgt.</translation>
  </message>
  <message>
   <source>Add it to the list of LoRAs for Flux.1 dev, with a control layer for the map.</source>
   <translation>Nehmen Sie sie für Flux.1 dev in die Liste der LoRAs auf, und fügen Sie eine Steuerebene mit der Karte hinzu.</translation>
  </message>
  <message>
   <source>Add it to the list of LoRAs.</source>
   <translation>Nehmen Sie sie in die Liste der LoRAs auf.</translation>
  </message>
  <message>
   <source>An attribute in the file is of an unknown kind.</source>
   <translation>Ein Attribut in der Datei ist von unbekannter Art.</translation>
  </message>
  <message>
   <source>An image prompt was left out: its picture is not known.</source>
   <translation>Ein Bild-Prompt wurde weggelassen: Sein Bild ist nicht bekannt.</translation>
  </message>
  <message>
   <source>An image prompt was left out: its picture is not known. Its adapter is {name}.</source>
   <translation>Ein Bild-Prompt wurde weggelassen: Sein Bild ist nicht bekannt. Sein Adapter ist {name}.</translation>
  </message>
  <message>
   <source>Another Safelight is installing an update.</source>
   <translation>Ein anderes Safelight installiert gerade ein Update.</translation>
  </message>
  <message>
   <source>Another Safelight is installing or removing a runtime pack now.</source>
   <translation>Ein anderes Safelight installiert oder entfernt gerade ein Laufzeitpaket.</translation>
  </message>
  <message>
   <source>Another one is needed, made for this model's family.</source>
   <translation>Gebraucht wird ein anderer Teil, der für die Familie dieses Modells gemacht ist.</translation>
  </message>
  <message>
   <source>Another version of the LoRA may be of a more usual type.</source>
   <translation>Eine andere Version der LoRA ist vielleicht von üblicherer Art.</translation>
  </message>
  <message>
   <source>As in AUTOMATIC1111 it acts {count} times, each time with the strength of the first tag.</source>
   <translation>Wie in AUTOMATIC1111 wirkt sie {count}-mal, jedes Mal mit der Stärke des ersten Tags.</translation>
  </message>
  <message>
   <source>As in AUTOMATIC1111 it acts {count} times, each time with the strength of the last tag.</source>
   <translation>Wie in AUTOMATIC1111 wirkt sie {count}-mal, jedes Mal mit der Stärke des letzten Tags.</translation>
  </message>
  <message>
   <source>At character {number} of the prompt, {problem}: {place}.</source>
   <translation>Beim Zeichen {number} des Prompts: {problem}: {place}.</translation>
  </message>
  <message>
   <source>At most {max_count} can wait.</source>
   <translation>Höchstens {max_count} können warten.</translation>
  </message>
  <message>
   <source>At most {max_count} can.</source>
   <translation>Höchstens {max_count} sind möglich.</translation>
  </message>
  <message>
   <source>CLIP text encoder, {layers} layers {width} wide</source>
   <translation>CLIP-Textencoder, {layers} Schichten, {width} breit</translation>
  </message>
  <message>
   <source>CUDA or cuDNN is absent, or of another version than {name} needs ({reason})</source>
   <translation>CUDA oder cuDNN fehlt oder hat eine andere Version, als {name} braucht ({reason})</translation>
  </message>
  <message>
   <source>Cancelled.</source>
   <translation>Abgebrochen.</translation>
  </message>
  <message>
   <source>Canny</source>
   <translation>Canny</translation>
  </message>
  <message>
   <source>Check DISPLAY. {without}</source>
   <translation>DISPLAY prüfen. {without}</translation>
  </message>
  <message>
   <source>Check that the disk is connected and that you may read the file.</source>
   <translation>Prüfen, ob der Datenträger verbunden ist und die Datei gelesen werden darf.</translation>
  </message>
  <message>
   <source>Check the hardware again.</source>
   <translation>Die Hardware erneut prüfen.</translation>
  </message>
  <message>
   <source>Choose Flux.1 dev, schnell, Krea or Fill, or what was trained from them.</source>
   <translation>Wählen Sie Flux.1 dev, schnell, Krea oder Fill, oder was daraus trainiert wurde.</translation>
  </message>
  <message>
   <source>Choose a .safetensors file, or the folder that holds unet, vae and text_encoder.</source>
   <translation>Eine .safetensors-Datei wählen oder den Ordner, der unet, vae und text_encoder enthält.</translation>
  </message>
  <message>
   <source>Choose a ControlNet for inpainting, or another kind of map.</source>
   <translation>Ein ControlNet für Inpainting wählen oder eine andere Art von Karte.</translation>
  </message>
  <message>
   <source>Choose a ControlNet for the model's family.</source>
   <translation>Wählen Sie ein ControlNet für die Familie des Modells.</translation>
  </message>
  <message>
   <source>Choose a LoRA for this model, or a model that the LoRA is for.</source>
   <translation>Eine LoRA für dieses Modell wählen oder ein Modell, für das die LoRA ist.</translation>
  </message>
  <message>
   <source>Choose a LoRA.</source>
   <translation>Eine LoRA wählen.</translation>
  </message>
  <message>
   <source>Choose a PNG, JPEG or WebP file.</source>
   <translation>Eine PNG-, JPEG- oder WebP-Datei wählen.</translation>
  </message>
  <message>
   <source>Choose a control network for {family}.</source>
   <translation>Wählen Sie ein Steuernetz für {family}.</translation>
  </message>
  <message>
   <source>Choose a control network that was made for this model.</source>
   <translation>Wählen Sie ein Steuernetz, das für dieses Modell gemacht wurde.</translation>
  </message>
  <message>
   <source>Choose a file.</source>
   <translation>Eine Datei wählen.</translation>
  </message>
  <message>
   <source>Choose a model of one of these: {titles}.{problem}</source>
   <translation>Ein Modell von einer dieser Familien wählen: {titles}.{problem}</translation>
  </message>
  <message>
   <source>Choose a model that it was made for.</source>
   <translation>Ein Modell wählen, für das es gemacht ist.</translation>
  </message>
  <message>
   <source>Choose a model trained with Stable Diffusion's own noise schedule.</source>
   <translation>Ein Modell wählen, das mit dem eigenen Rauschverlauf von Stable Diffusion trainiert wurde.</translation>
  </message>
  <message>
   <source>Choose a model with Chroma's usual network.</source>
   <translation>Wählen Sie ein Modell mit dem üblichen Netz von Chroma.</translation>
  </message>
  <message>
   <source>Choose a model with Flux.1's usual network.</source>
   <translation>Wählen Sie ein Modell mit dem üblichen Netz von Flux.1.</translation>
  </message>
  <message>
   <source>Choose a model with Qwen3 as its text encoder.</source>
   <translation>Wählen Sie ein Modell mit Qwen3 als Textencoder.</translation>
  </message>
  <message>
   <source>Choose a model with Stable Diffusion's usual network.</source>
   <translation>Ein Modell mit dem üblichen Netz von Stable Diffusion wählen.</translation>
  </message>
  <message>
   <source>Choose a model with T5 v1.1 as its text encoder.</source>
   <translation>Wählen Sie ein Modell mit T5 v1.1 als Textencoder.</translation>
  </message>
  <message>
   <source>Choose a model with Z-Image's usual network.</source>
   <translation>Wählen Sie ein Modell mit dem üblichen Netzwerk von Z-Image.</translation>
  </message>
  <message>
   <source>Choose a model with the usual network of FLUX.2 klein.</source>
   <translation>Wählen Sie ein Modell mit dem üblichen Netz von FLUX.2 klein.</translation>
  </message>
  <message>
   <source>Choose a model with the usual network of Stable Diffusion 3.</source>
   <translation>Wählen Sie ein Modell mit dem üblichen Netz von Stable Diffusion 3.</translation>
  </message>
  <message>
   <source>Choose a model, or get the .safetensors version of this one.</source>
   <translation>Ein Modell wählen oder die .safetensors-Version von diesem beschaffen.</translation>
  </message>
  <message>
   <source>Choose a model.</source>
   <translation>Ein Modell wählen.</translation>
  </message>
  <message>
   <source>Choose a preprocessor, if it is a picture of which a map is to be made.</source>
   <translation>Wählen Sie eine Vorverarbeitung, falls aus dem Bild erst eine Karte werden soll.</translation>
  </message>
  <message>
   <source>Choose a scale, or a width and a height.</source>
   <translation>Wählen Sie einen Faktor oder eine Breite und Höhe.</translation>
  </message>
  <message>
   <source>Choose a shorter one.</source>
   <translation>Einen kürzeren wählen.</translation>
  </message>
  <message>
   <source>Choose a smaller size, or an upscaler of a smaller scale.</source>
   <translation>Eine kleinere Größe oder einen Upscaler mit kleinerem Faktor wählen.</translation>
  </message>
  <message>
   <source>Choose a smaller size.</source>
   <translation>Wählen Sie eine kleinere Größe.</translation>
  </message>
  <message>
   <source>Choose a text-to-image or inpainting model.</source>
   <translation>Ein Text-zu-Bild- oder Inpainting-Modell wählen.</translation>
  </message>
  <message>
   <source>Choose an IP-Adapter, IP-Adapter Plus or full face file for the model.</source>
   <translation>Wählen Sie eine Datei von IP-Adapter, IP-Adapter Plus oder Full Face für das Modell.</translation>
  </message>
  <message>
   <source>Choose an adapter that was made for the model's family.</source>
   <translation>Wählen Sie einen Adapter, der für die Familie des Modells gemacht ist.</translation>
  </message>
  <message>
   <source>Choose an upscaler of one of these: {titles}.</source>
   <translation>Einen Upscaler von einer dieser Arten wählen: {titles}.</translation>
  </message>
  <message>
   <source>Choose another device, or weights in 16 bits.</source>
   <translation>Wählen Sie ein anderes Gerät oder Gewichte in 16 Bit.</translation>
  </message>
  <message>
   <source>Choose another file, or download it again.</source>
   <translation>Wählen Sie eine andere Datei, oder laden Sie sie noch einmal herunter.</translation>
  </message>
  <message>
   <source>Choose another file.</source>
   <translation>Eine andere Datei wählen.</translation>
  </message>
  <message>
   <source>Choose another folder for the cache, or let this one be written to.</source>
   <translation>Wählen Sie einen anderen Ordner für den Cache, oder lassen Sie zu, dass in diesen geschrieben wird.</translation>
  </message>
  <message>
   <source>Choose another folder with SAFELIGHT_STATE.</source>
   <translation>Mit SAFELIGHT_STATE einen anderen Ordner wählen.</translation>
  </message>
  <message>
   <source>Choose another folder.</source>
   <translation>Einen anderen Ordner wählen.</translation>
  </message>
  <message>
   <source>Choose another model, or download it again.</source>
   <translation>Ein anderes Modell wählen oder es neu herunterladen.</translation>
  </message>
  <message>
   <source>Choose another model, or leave out the control layers.</source>
   <translation>Wählen Sie ein anderes Modell, oder lassen Sie die Steuerebenen weg.</translation>
  </message>
  <message>
   <source>Choose another name.</source>
   <translation>Einen anderen Namen wählen.</translation>
  </message>
  <message>
   <source>Choose another version of the ControlNet.</source>
   <translation>Wählen Sie eine andere Fassung des ControlNets.</translation>
  </message>
  <message>
   <source>Choose another version of the model.</source>
   <translation>Eine andere Version des Modells wählen.</translation>
  </message>
  <message>
   <source>Choose its file in the control layer.</source>
   <translation>Wählen Sie seine Datei in der Steuerebene.</translation>
  </message>
  <message>
   <source>Choose its file, or put it back.</source>
   <translation>Wählen Sie die Datei, oder legen Sie sie wieder dorthin.</translation>
  </message>
  <message>
   <source>Choose mid, down or up, or the beginning of a layer's name.</source>
   <translation>Wählen Sie mid, down oder up oder den Anfang eines Schichtnamens.</translation>
  </message>
  <message>
   <source>Choose one that sees the whole picture, such as IP-Adapter Plus Face.</source>
   <translation>Wählen Sie einen, der das ganze Bild sieht, etwa IP-Adapter Plus Face.</translation>
  </message>
  <message>
   <source>Choose one whose modules stand before attention, as kohya's own do.</source>
   <translation>Wählen Sie eines, dessen Module vor der Aufmerksamkeit stehen, wie bei denen von kohya.</translation>
  </message>
  <message>
   <source>Choose that encoder, or none: then one is looked for among your files.</source>
   <translation>Wählen Sie diesen Encoder oder keinen: dann wird einer unter Ihren Dateien gesucht.</translation>
  </message>
  <message>
   <source>Choose the SDXL refiner for an SDXL model, or one of the same family.</source>
   <translation>Den SDXL-Refiner für ein SDXL-Modell wählen oder einen derselben Familie.</translation>
  </message>
  <message>
   <source>Choose the adapter's file, or put it into the folder of your models.</source>
   <translation>Wählen Sie die Datei des Adapters, oder legen Sie sie in den Ordner Ihrer Modelle.</translation>
  </message>
  <message>
   <source>Choose the adapter's own file.</source>
   <translation>Wählen Sie die eigene Datei des Adapters.</translation>
  </message>
  <message>
   <source>Choose the model itself, or the folder that holds it.</source>
   <translation>Das Modell selbst wählen oder den Ordner, der es enthält.</translation>
  </message>
  <message>
   <source>Choose the original file of a picture made by Safelight, AUTOMATIC1111, ComfyUI or alike.</source>
   <translation>Die Originaldatei eines Bildes von Safelight, AUTOMATIC1111, ComfyUI oder ähnlichen wählen.</translation>
  </message>
  <message>
   <source>Choose the picture that is the prompt.</source>
   <translation>Wählen Sie das Bild, das der Prompt ist.</translation>
  </message>
  <message>
   <source>Choose the picture that it follows.</source>
   <translation>Wählen Sie das Bild, dem sie folgt.</translation>
  </message>
  <message>
   <source>Civitai finds it by the hash {hash}.</source>
   <translation>Civitai findet sie über den Hash {hash}.</translation>
  </message>
  <message>
   <source>Closing other programs may help.</source>
   <translation>Andere Programme zu schließen kann helfen.</translation>
  </message>
  <message>
   <source>Color grid</source>
   <translation>Farbraster</translation>
  </message>
  <message>
   <source>Content shuffle</source>
   <translation>Gemischter Inhalt</translation>
  </message>
  <message>
   <source>ControlNet</source>
   <translation>ControlNet</translation>
  </message>
  <message>
   <source>Copy the report and send it to us; then try again.</source>
   <translation>Den Bericht kopieren und uns schicken; dann erneut versuchen.</translation>
  </message>
  <message>
   <source>CoreML is a part of macOS</source>
   <translation>CoreML ist ein Teil von macOS</translation>
  </message>
  <message>
   <source>Correct it, or remove it: it only holds defaults.</source>
   <translation>Berichtigen oder entfernen: Sie enthält nur Vorgaben.</translation>
  </message>
  <message>
   <source>Depth (Depth Anything V2)</source>
   <translation>Tiefe (Depth Anything V2)</translation>
  </message>
  <message>
   <source>Direct3D 12, Vulkan or Metal; on Linux libvulkan.so.1 must be there too</source>
   <translation>Direct3D 12, Vulkan oder Metal; unter Linux muss auch libvulkan.so.1 da sein</translation>
  </message>
  <message>
   <source>DirectML does not list {name}</source>
   <translation>DirectML führt {name} nicht auf</translation>
  </message>
  <message>
   <source>DirectML is a part of Windows</source>
   <translation>DirectML ist ein Teil von Windows</translation>
  </message>
  <message>
   <source>Download it again, or get another copy: it may have been cut or merged wrongly.</source>
   <translation>Neu herunterladen oder eine andere Kopie beschaffen: Vielleicht wurde sie falsch gekürzt oder verschmolzen.</translation>
  </message>
  <message>
   <source>Download it again, or remove it from the folder of embeddings.</source>
   <translation>Neu herunterladen oder aus dem Ordner der Embeddings entfernen.</translation>
  </message>
  <message>
   <source>Download it again.</source>
   <translation>Neu herunterladen.</translation>
  </message>
  <message>
   <source>Download the .safetensors files of this folder.</source>
   <translation>Die .safetensors-Dateien dieses Ordners herunterladen.</translation>
  </message>
  <message>
   <source>Download the folder again.</source>
   <translation>Den Ordner neu herunterladen.</translation>
  </message>
  <message>
   <source>Download the model again.</source>
   <translation>Das Modell neu herunterladen.</translation>
  </message>
  <message>
   <source>Draws the last steps of SDXL's pictures, and none of its own.</source>
   <translation>Zeichnet die letzten Schritte von SDXL-Bildern, allein keine.</translation>
  </message>
  <message>
   <source>Dropping it would give wrong pictures. Use a version of the model without it.</source>
   <translation>Ihn wegzulassen ergäbe falsche Bilder. Eine Version des Modells ohne ihn verwenden.</translation>
  </message>
  <message>
   <source>EDM with v-prediction</source>
   <translation>EDM mit v-Vorhersage</translation>
  </message>
  <message>
   <source>Families: {names}.{problem}</source>
   <translation>Familien: {names}.{problem}</translation>
  </message>
  <message>
   <source>Files like this are not run. Get another version of the model.</source>
   <translation>Dateien wie diese werden nicht ausgeführt. Besorgen Sie eine andere Version des Modells.</translation>
  </message>
  <message>
   <source>Files of it are missing or changed: {files}. If an antivirus program took them, allow them there; then install the version again.</source>
   <translation>Dateien davon fehlen oder sind verändert: {files}. Hat ein Virenscanner sie entfernt, dort erlauben; dann die Version neu installieren.</translation>
  </message>
  <message>
   <source>Files of this kind are programs, and Safelight does not run them. Get the .safetensors version, or save the model as one in the program that wrote this file.</source>
   <translation>Dateien dieser Art sind Programme, und Safelight führt sie nicht aus. Die .safetensors-Version beschaffen oder das Modell im Programm, das diese Datei geschrieben hat, als solche speichern.</translation>
  </message>
  <message>
   <source>Files of this kind are programs. Get the .safetensors version.</source>
   <translation>Dateien dieser Art sind Programme. Die .safetensors-Version beschaffen.</translation>
  </message>
  <message>
   <source>For the same picture as with the LoRAs, bake into the fp16 version of the model.</source>
   <translation>Für dasselbe Bild wie mit den LoRAs in die fp16-Version des Modells einbacken.</translation>
  </message>
  <message>
   <source>Free some disk space.</source>
   <translation>Platz auf dem Datenträger schaffen.</translation>
  </message>
  <message>
   <source>Free some space, or choose another folder for the cache.</source>
   <translation>Schaffen Sie Platz, oder wählen Sie einen anderen Ordner für den Cache.</translation>
  </message>
  <message>
   <source>Free some space, or write it to another disk.</source>
   <translation>Platz schaffen oder auf einen anderen Datenträger schreiben.</translation>
  </message>
  <message>
   <source>Free some space, then go on; what has arrived is kept.</source>
   <translation>Platz schaffen, dann fortsetzen; was angekommen ist, bleibt erhalten.</translation>
  </message>
  <message>
   <source>Free some space, then try again.</source>
   <translation>Platz schaffen, dann noch einmal versuchen.</translation>
  </message>
  <message>
   <source>Free some space.</source>
   <translation>Platz schaffen.</translation>
  </message>
  <message>
   <source>FreeU b1</source>
   <translation>FreeU b1</translation>
  </message>
  <message>
   <source>FreeU b2</source>
   <translation>FreeU b2</translation>
  </message>
  <message>
   <source>FreeU s1</source>
   <translation>FreeU s1</translation>
  </message>
  <message>
   <source>FreeU s2</source>
   <translation>FreeU s2</translation>
  </message>
  <message>
   <source>Gaussian blur</source>
   <translation>Gaußscher Weichzeichner</translation>
  </message>
  <message>
   <source>Get the .safetensors version.</source>
   <translation>Die .safetensors-Version beschaffen.</translation>
  </message>
  <message>
   <source>Get the fp16 or fp32 version of the model.</source>
   <translation>Die fp16- oder fp32-Version des Modells beschaffen.</translation>
  </message>
  <message>
   <source>Get the fp16 version, or fp8 with one scale for each layer.</source>
   <translation>Die fp16-Version beschaffen oder fp8 mit einer Skala je Schicht.</translation>
  </message>
  <message>
   <source>Get the fp16, bf16, fp8 or int8 version, or a GGUF file.</source>
   <translation>Nehmen Sie die Fassung in fp16, bf16, fp8 oder int8 oder eine GGUF-Datei.</translation>
  </message>
  <message>
   <source>Get the version in Q8_0, Q6_K, Q5_K, Q4_K or Q4_0.</source>
   <translation>Besorgen Sie die Fassung in Q8_0, Q6_K, Q5_K, Q4_K oder Q4_0.</translation>
  </message>
  <message>
   <source>Give each prompt one number.</source>
   <translation>Jedem Prompt eine Zahl geben.</translation>
  </message>
  <message>
   <source>Give one of the files in it.</source>
   <translation>Geben Sie eine der Dateien darin an.</translation>
  </message>
  <message>
   <source>Give the path of its file{value}.</source>
   <translation>Den Pfad der Datei angeben{value}.</translation>
  </message>
  <message>
   <source>Hypernetworks add layers to the attention of SD 1, which no network here has. LoRAs have replaced them; look for a LoRA of the same style.</source>
   <translation>Hypernetzwerke fügen der Attention von SD 1 Schichten hinzu, die hier kein Netz hat. LoRAs haben sie abgelöst; suchen Sie eine LoRA im selben Stil.</translation>
  </message>
  <message>
   <source>If it happens again, the log says what the engine wrote last.</source>
   <translation>Geschieht es wieder, steht im Protokoll, was die Engine zuletzt geschrieben hat.</translation>
  </message>
  <message>
   <source>If it is still downloading, wait until that has finished.</source>
   <translation>Falls die Datei noch heruntergeladen wird, das Ende abwarten.</translation>
  </message>
  <message>
   <source>If this comes back, the disk or the memory of this computer may be failing.</source>
   <translation>Kommt das wieder, versagt vielleicht der Datenträger oder der Speicher dieses Computers.</translation>
  </message>
  <message>
   <source>If this computer's date is right, try again later.</source>
   <translation>Stimmt das Datum dieses Computers, später erneut versuchen.</translation>
  </message>
  <message>
   <source>If this computer's date is wrong, set it right. If this network inspects connections, its certificate must be among those that this system trusts, or in the file that the variable SSL_CERT_FILE names. On Linux the package ca-certificates has the usual ones.</source>
   <translation>Ist das Datum dieses Computers falsch, berichtigen. Prüft dieses Netzwerk Verbindungen, muss sein Zertifikat unter denen sein, denen dieses System vertraut, oder in der Datei, die die Variable SSL_CERT_FILE nennt. Unter Linux enthält das Paket ca-certificates die üblichen.</translation>
  </message>
  <message>
   <source>If this network asks for a sign-in first, do so in a web browser, then try again.</source>
   <translation>Verlangt dieses Netzwerk erst eine Anmeldung, sie im Webbrowser vornehmen, dann erneut versuchen.</translation>
  </message>
  <message>
   <source>If this network asks for a sign-in first, do so in a web browser, then try again. Where a site sends its files from another place by now, look its link up again; what has arrived is kept.</source>
   <translation>Verlangt dieses Netzwerk erst eine Anmeldung, sie im Webbrowser vornehmen, dann erneut versuchen. Sendet eine Website ihre Dateien inzwischen von anderswo, den Link noch einmal nachschlagen; was schon da ist, bleibt erhalten.</translation>
  </message>
  <message>
   <source>Image prompts need the encoder that their adapter was trained with.</source>
   <translation>Bild-Prompts brauchen den Encoder, mit dem ihr Adapter trainiert wurde.</translation>
  </message>
  <message>
   <source>Install Safelight again.</source>
   <translation>Safelight neu installieren.</translation>
  </message>
  <message>
   <source>Install Safelight again: parts of it are of different versions.</source>
   <translation>Safelight neu installieren: Teile davon sind von verschiedenen Versionen.</translation>
  </message>
  <message>
   <source>Install Safelight again; an antivirus program may have removed a part of it.</source>
   <translation>Safelight neu installieren; ein Virenschutz hat vielleicht einen Teil entfernt.</translation>
  </message>
  <message>
   <source>Intel's compute runtime is not installed or does not know it: install intel-opencl-icd ({guide})</source>
   <translation>Intels Compute-Laufzeit ist nicht installiert oder kennt es nicht: intel-opencl-icd installieren ({guide})</translation>
  </message>
  <message>
   <source>Invert</source>
   <translation>Umkehren</translation>
  </message>
  <message>
   <source>It can be installed again. The reason: {reason}.</source>
   <translation>Sie lässt sich erneut installieren. Der Grund: {reason}.</translation>
  </message>
  <message>
   <source>It closed its pipe and did not end.</source>
   <translation>Es hat seine Verbindung geschlossen und sich nicht beendet.</translation>
  </message>
  <message>
   <source>It comes last until the hardware is checked again.</source>
   <translation>Es kommt zuletzt, bis die Hardware noch einmal geprüft wird.</translation>
  </message>
  <message>
   <source>It consists of {names}.</source>
   <translation>Es besteht aus {names}.</translation>
  </message>
  <message>
   <source>It crashed ({signal}).</source>
   <translation>Es ist abgestürzt ({signal}).</translation>
  </message>
  <message>
   <source>It crashed ({signal}): {reason}</source>
   <translation>Es ist abgestürzt ({signal}): {reason}</translation>
  </message>
  <message>
   <source>It did not answer for {n} s.</source>
   <translation>Es hat {n} s lang nicht geantwortet.</translation>
  </message>
  <message>
   <source>It ended by itself.</source>
   <translation>Es hat sich von selbst beendet.</translation>
  </message>
  <message>
   <source>It ended by itself: {reason}</source>
   <translation>Es hat sich von selbst beendet: {reason}</translation>
  </message>
  <message>
   <source>It failed: {reason}.</source>
   <translation>Es hat versagt: {reason}.</translation>
  </message>
  <message>
   <source>It has no keys of an IP-Adapter.</source>
   <translation>Sie hat keine Schlüssel eines IP-Adapters.</translation>
  </message>
  <message>
   <source>It has {others}, for another version, system or Python.</source>
   <translation>Darin ist {others}, für eine andere Version, ein anderes System oder ein anderes Python.</translation>
  </message>
  <message>
   <source>It is a FaceID adapter: it needs a network that recognises faces (insightface), which Safelight does not have.</source>
   <translation>Sie ist ein FaceID-Adapter: er braucht ein Netz, das Gesichter erkennt (insightface), und das hat Safelight nicht.</translation>
  </message>
  <message>
   <source>It is a UNet that was saved with an adapter in it.</source>
   <translation>Es ist ein UNet, in dem ein Adapter mitgespeichert ist.</translation>
  </message>
  <message>
   <source>It is for Kolors, which is not run here.</source>
   <translation>Sie ist für Kolors, das hier nicht läuft.</translation>
  </message>
  <message>
   <source>It is for a kind of model that is not run here.</source>
   <translation>Sie ist für eine Art von Modell, die hier nicht läuft.</translation>
  </message>
  <message>
   <source>It is made for Python {wanted}; this is Python {here}.</source>
   <translation>Es ist für Python {wanted} gemacht; dies ist Python {here}.</translation>
  </message>
  <message>
   <source>It is made for Python {wanted}; this is Python {present}.</source>
   <translation>Es ist für Python {wanted} gemacht; dies ist Python {present}.</translation>
  </message>
  <message>
   <source>It is made for another system.</source>
   <translation>Es ist für ein anderes System gemacht.</translation>
  </message>
  <message>
   <source>It is made for {machines} processors; this one is {present}.</source>
   <translation>Es ist für {machines}-Prozessoren gemacht; dieser ist {present}.</translation>
  </message>
  <message>
   <source>It is made for {systems} and {system}.</source>
   <translation>Es ist für {systems} und {system} gemacht.</translation>
  </message>
  <message>
   <source>It is made for {systems}.</source>
   <translation>Es ist für {systems} gemacht.</translation>
  </message>
  <message>
   <source>It is not known which blocks of this model make style or composition.</source>
   <translation>Es ist nicht bekannt, welche Blöcke dieses Modells Stil oder Komposition ausmachen.</translation>
  </message>
  <message>
   <source>It is not there.</source>
   <translation>Es ist nicht da.</translation>
  </message>
  <message>
   <source>It is {title}, which is not used yet.</source>
   <translation>Es ist {title}, was noch nicht verwendet wird.</translation>
  </message>
  <message>
   <source>It may be for other checkpoints, or it is damaged.</source>
   <translation>Sie ist vielleicht für andere Checkpoints oder beschädigt.</translation>
  </message>
  <message>
   <source>It may be from 0 to {max_seed}.</source>
   <translation>Er darf von 0 bis {max_seed} gehen.</translation>
  </message>
  <message>
   <source>It may be of another family, or its configuration of another model.</source>
   <translation>Vielleicht gehört es zu einer anderen Familie oder seine Konfiguration zu einem anderen Modell.</translation>
  </message>
  <message>
   <source>It may have been moved or deleted; choose another one.</source>
   <translation>Vielleicht wurde es verschoben oder gelöscht; wählen Sie ein anderes.</translation>
  </message>
  <message>
   <source>It may have been moved or renamed; choose it again.</source>
   <translation>Vielleicht verschoben oder umbenannt; neu wählen.</translation>
  </message>
  <message>
   <source>It offers {offered}.</source>
   <translation>Möglich ist {offered}.</translation>
  </message>
  <message>
   <source>It said something that is no answer.</source>
   <translation>Es hat etwas gesagt, das keine Antwort ist.</translation>
  </message>
  <message>
   <source>It starts.</source>
   <translation>Es startet.</translation>
  </message>
  <message>
   <source>It takes {kinds}.</source>
   <translation>Es nimmt {kinds}.</translation>
  </message>
  <message>
   <source>It takes {names}.</source>
   <translation>Möglich ist {names}.</translation>
  </message>
  <message>
   <source>It takes {options}.</source>
   <translation>Möglich ist {options}.</translation>
  </message>
  <message>
   <source>It takes {value}.</source>
   <translation>Möglich ist {value}.</translation>
  </message>
  <message>
   <source>It took more than {n} GB of memory.</source>
   <translation>Es hat mehr als {n} GB Speicher belegt.</translation>
  </message>
  <message>
   <source>It was looked for in the folders of models.</source>
   <translation>Gesucht wurde in den Modellordnern.</translation>
  </message>
  <message>
   <source>It was not looked at yet.</source>
   <translation>Es wurde noch nicht geprüft.</translation>
  </message>
  <message>
   <source>It was not tried yet.</source>
   <translation>Es wurde noch nicht erprobt.</translation>
  </message>
  <message>
   <source>Its hash is {hash}, by which Civitai may find it.</source>
   <translation>Der Hash ist {hash}; damit findet Civitai die Datei vielleicht.</translation>
  </message>
  <message>
   <source>Its results are correct: {results}.</source>
   <translation>Die Ergebnisse stimmen: {results}.</translation>
  </message>
  <message>
   <source>Its trial ended without a result.</source>
   <translation>Die Erprobung endete ohne Ergebnis.</translation>
  </message>
  <message>
   <source>Its usual name is {files}.</source>
   <translation>Meist heißt sie {files}.</translation>
  </message>
  <message>
   <source>Join some of the parts.</source>
   <translation>Einige der Teile verbinden.</translation>
  </message>
  <message>
   <source>Join them by llama.cpp's program for it, or get the model in one file.</source>
   <translation>Fügen Sie sie mit dem Programm von llama.cpp dafür zusammen, oder besorgen Sie das Modell in einer Datei.</translation>
  </message>
  <message>
   <source>Known are HED, PiDiNet, informative-drawings and Depth Anything V2 small, base, large.</source>
   <translation>Bekannt sind HED, PiDiNet, informative-drawings und Depth Anything V2 small, base, large.</translation>
  </message>
  <message>
   <source>Leave it out for the sampler's own value.</source>
   <translation>Für den eigenen Wert des Samplers weglassen.</translation>
  </message>
  <message>
   <source>Leave it out for the schedule's own value.</source>
   <translation>Für den eigenen Wert des Zeitplans weglassen.</translation>
  </message>
  <message>
   <source>Leave it out.</source>
   <translation>Weglassen.</translation>
  </message>
  <message>
   <source>Leave its family to the file.</source>
   <translation>Die Familie der Datei überlassen.</translation>
  </message>
  <message>
   <source>Leave its family to the file. It is {family}.</source>
   <translation>Die Familie der Datei überlassen. Sie ist {family}.</translation>
  </message>
  <message>
   <source>Leave its prediction to the file.</source>
   <translation>Die Vorhersage der Datei überlassen.</translation>
  </message>
  <message>
   <source>Leave its variant to the file.</source>
   <translation>Die Variante der Datei überlassen.</translation>
  </message>
  <message>
   <source>Leave one of them out: all that is new is painted with the whole.</source>
   <translation>Eines davon weglassen: Alles Neue wird zusammen mit dem Ganzen gemalt.</translation>
  </message>
  <message>
   <source>Leave some out.</source>
   <translation>Einige weglassen.</translation>
  </message>
  <message>
   <source>Leave the others out.</source>
   <translation>Die anderen weglassen.</translation>
  </message>
  <message>
   <source>Leave the reference out, or choose a model of Stable Diffusion 1, 2 or XL.</source>
   <translation>Lassen Sie die Referenz weg, oder wählen Sie ein Modell von Stable Diffusion 1, 2 oder XL.</translation>
  </message>
  <message>
   <source>Leave the second passes out.</source>
   <translation>Die zweiten Durchgänge weglassen.</translation>
  </message>
  <message>
   <source>Leave them out, or choose a model such as Flux.1 Kontext.</source>
   <translation>Lassen Sie sie weg, oder wählen Sie ein Modell wie Flux.1 Kontext.</translation>
  </message>
  <message>
   <source>Let an upscaler's file, lanczos or the like enlarge the picture before that pass.</source>
   <translation>Das Bild vor diesem Durchgang mit der Datei eines Upscalers, mit lanczos oder Ähnlichem vergrößern.</translation>
  </message>
  <message>
   <source>Let the image prompt act on all blocks.</source>
   <translation>Lassen Sie den Bild-Prompt auf alle Blöcke wirken.</translation>
  </message>
  <message>
   <source>Lineart</source>
   <translation>Strichzeichnung</translation>
  </message>
  <message>
   <source>Lower the resolution, or cut the picture to another shape.</source>
   <translation>Verringern Sie die Auflösung, oder schneiden Sie das Bild anders zu.</translation>
  </message>
  <message>
   <source>MIGraphX does not list {name}</source>
   <translation>MIGraphX führt {name} nicht auf</translation>
  </message>
  <message>
   <source>Make a picture: its record has the seconds of each phase.</source>
   <translation>Erzeugen Sie ein Bild: Seine Aufzeichnung nennt die Sekunden jeder Phase.</translation>
  </message>
  <message>
   <source>Make room on the disk of {folder}: {size:.1f} MB are needed.</source>
   <translation>Platz auf dem Datenträger von {folder} schaffen: {size:.1f} MB werden gebraucht.</translation>
  </message>
  <message>
   <source>Mark the part on the canvas, or give the control layer a mask.</source>
   <translation>Markieren Sie den Teil auf der Leinwand, oder geben Sie der Steuerebene eine Maske.</translation>
  </message>
  <message>
   <source>Mend it, or open the window, which puts it aside.</source>
   <translation>Die Datei berichtigen oder das Fenster öffnen, das sie beiseitelegt.</translation>
  </message>
  <message>
   <source>Models are written as .safetensors files.</source>
   <translation>Modelle werden als .safetensors-Dateien geschrieben.</translation>
  </message>
  <message>
   <source>NVIDIA's driver does not answer (NVML)</source>
   <translation>der Treiber von NVIDIA antwortet nicht (NVML)</translation>
  </message>
  <message>
   <source>NVIDIA's driver does not tell the memory of {name}</source>
   <translation>der Treiber von NVIDIA nennt den Speicher von {name} nicht</translation>
  </message>
  <message>
   <source>NVIDIA's driver is not there: {reason}</source>
   <translation>der Treiber von NVIDIA fehlt: {reason}</translation>
  </message>
  <message>
   <source>Name it by its folder, too, as in folder/name, to choose another one.</source>
   <translation>Auch den Ordner nennen, wie in Ordner/Name, um eine andere zu wählen.</translation>
  </message>
  <message>
   <source>Name it in the prompt as an embedding.</source>
   <translation>Im Prompt als Embedding nennen.</translation>
  </message>
  <message>
   <source>Name it {stem}.</source>
   <translation>{stem} nennen.</translation>
  </message>
  <message>
   <source>Name it {target}.safetensors.</source>
   <translation>{target}.safetensors nennen.</translation>
  </message>
  <message>
   <source>Name the file {name}.</source>
   <translation>Die Datei {name} nennen.</translation>
  </message>
  <message>
   <source>Network of an ONNX file</source>
   <translation>Netz einer ONNX-Datei</translation>
  </message>
  <message>
   <source>No control network fits {checkpoint}, whose layers have widths of their own.</source>
   <translation>Kein Steuernetz passt zu {checkpoint}, dessen Schichten eigene Breiten haben.</translation>
  </message>
  <message>
   <source>No device can be used ({names}).</source>
   <translation>Kein Gerät kann verwendet werden ({names}).</translation>
  </message>
  <message>
   <source>No file in the folders of models has its content, either.</source>
   <translation>Auch in den Modellordnern hat keine Datei diesen Inhalt.</translation>
  </message>
  <message>
   <source>No model is chosen.</source>
   <translation>Es ist kein Modell gewählt.</translation>
  </message>
  <message>
   <source>No network of this kind is known.</source>
   <translation>Kein Netz dieser Art ist bekannt.</translation>
  </message>
  <message>
   <source>Normals (from depth)</source>
   <translation>Normalen (aus der Tiefe)</translation>
  </message>
  <message>
   <source>Nothing can be written in {folder}: {reason}.</source>
   <translation>In {folder} lässt sich nichts schreiben: {reason}.</translation>
  </message>
  <message>
   <source>Nothing can be written to {folder}: it is no folder.</source>
   <translation>Nach {folder} kann nichts geschrieben werden: Es ist kein Ordner.</translation>
  </message>
  <message>
   <source>Nothing can be written to {folder}: {reason}.</source>
   <translation>Nach {folder} kann nichts geschrieben werden: {reason}.</translation>
  </message>
  <message>
   <source>Nothing is installed, because the licences were not accepted.</source>
   <translation>Nichts wurde installiert, weil die Lizenzen nicht angenommen wurden.</translation>
  </message>
  <message>
   <source>Nothing is prepared while pictures are made.</source>
   <translation>Während Bilder entstehen, wird nichts vorbereitet.</translation>
  </message>
  <message>
   <source>Nothing of it is used.</source>
   <translation>Nichts davon wird verwendet.</translation>
  </message>
  <message>
   <source>Nothing of it is used. Copy the folder of updates again, or try again later.</source>
   <translation>Nichts davon wird verwendet. Den Ordner der Updates neu kopieren oder später erneut versuchen.</translation>
  </message>
  <message>
   <source>Nothing of it is used. Download it again from {address}</source>
   <translation>Nichts davon wird verwendet. Neu herunterladen von {address}</translation>
  </message>
  <message>
   <source>Nothing of it is used. Try again later.</source>
   <translation>Nichts davon wird verwendet. Später erneut versuchen.</translation>
  </message>
  <message>
   <source>Nothing was changed.</source>
   <translation>Nichts wurde geändert.</translation>
  </message>
  <message>
   <source>Nothing would be painted: the mask {path} is black, or white only in spots that are smaller than {downscale} pixels.</source>
   <translation>Nichts würde gemalt: Die Maske {path} ist schwarz oder nur an Stellen weiß, die kleiner als {downscale} Pixel sind.</translation>
  </message>
  <message>
   <source>ONNX Runtime {version} is too old to load {title}</source>
   <translation>ONNX Runtime {version} ist zu alt, um {title} zu laden</translation>
  </message>
  <message>
   <source>On Debian and Ubuntu: sudo apt install {packages}. {without}</source>
   <translation>Unter Debian und Ubuntu: sudo apt install {packages}. {without}</translation>
  </message>
  <message>
   <source>Only one {what} can be used at a time.</source>
   <translation>Nur einmal zugleich möglich: {what}.</translation>
  </message>
  <message>
   <source>OpenVINO needs OpenCL, whose loader libOpenCL.so.1 is not installed: install ocl-icd-libopencl1 and Intel's compute runtime, intel-opencl-icd</source>
   <translation>OpenVINO braucht OpenCL, dessen Lader libOpenCL.so.1 nicht installiert ist: ocl-icd-libopencl1 und Intels Compute-Laufzeit intel-opencl-icd installieren</translation>
  </message>
  <message>
   <source>OpenVINO runs it on {found}, not {wanted}</source>
   <translation>OpenVINO führt es auf {found} aus, nicht auf {wanted}</translation>
  </message>
  <message>
   <source>OpenVINO's GPU plug-in does not start: {reason}</source>
   <translation>das GPU-Plug-in von OpenVINO startet nicht: {reason}</translation>
  </message>
  <message>
   <source>PAG adaptive scale</source>
   <translation>Abnahme der PAG-Stärke</translation>
  </message>
  <message>
   <source>PAG scale</source>
   <translation>PAG-Stärke</translation>
  </message>
  <message>
   <source>Paint it first, and enlarge the result.</source>
   <translation>Zuerst malen und dann das Ergebnis vergrößern.</translation>
  </message>
  <message>
   <source>People as coloured figures: bodies, hands and faces.</source>
   <translation>Menschen als farbige Figuren: Körper, Hände und Gesichter.</translation>
  </message>
  <message>
   <source>Perhaps memory ran out: try a smaller size, then queue it again.</source>
   <translation>Vielleicht reichte der Speicher nicht: eine kleinere Größe versuchen, dann wieder einreihen.</translation>
  </message>
  <message>
   <source>Pictures are written as PNG, WebP or JPEG, not as {suffix}.</source>
   <translation>Bilder werden als PNG, WebP oder JPEG geschrieben, nicht als {suffix}.</translation>
  </message>
  <message>
   <source>Pose (DWPose)</source>
   <translation>Pose (DWPose)</translation>
  </message>
  <message>
   <source>Preparing {checkpoint} failed.</source>
   <translation>Das Vorbereiten von {checkpoint} ist fehlgeschlagen.</translation>
  </message>
  <message>
   <source>Preparing {checkpoint} for {device}, once{about}; this picture is made by {title} meanwhile.</source>
   <translation>{checkpoint} wird einmalig für {device} vorbereitet{about}; dieses Bild erzeugt inzwischen {title}.</translation>
  </message>
  <message>
   <source>Probably memory ran out: a smaller picture needs less, and so do fewer other programs.</source>
   <translation>Vermutlich ist der Speicher ausgegangen: Ein kleineres Bild braucht weniger; auch andere Programme zu schließen hilft.</translation>
  </message>
  <message>
   <source>Prompts know them only while the LoRA itself is in use.</source>
   <translation>Prompts kennen sie nur, solange die LoRA selbst verwendet wird.</translation>
  </message>
  <message>
   <source>Prompts of {first} and of {second} times 75 tokens are too long to go together.</source>
   <translation>Prompts von {first}-mal und {second}-mal 75 Tokens sind zusammen zu lang.</translation>
  </message>
  <message>
   <source>Put all of the prompt into the blend.</source>
   <translation>Den ganzen Prompt in den Blend setzen.</translation>
  </message>
  <message>
   <source>Put it beside the adapter or into a folder clip_vision of the models, or choose it.</source>
   <translation>Legen Sie ihn neben den Adapter oder in einen Ordner clip_vision der Modelle, oder wählen Sie ihn.</translation>
  </message>
  <message>
   <source>Put its encoder beside it, as taesd_encoder beside taesd_decoder.</source>
   <translation>Ihren Encoder danebenlegen, als taesd_encoder neben taesd_decoder.</translation>
  </message>
  <message>
   <source>Put its file into a folder loras in the folder of models.</source>
   <translation>Die Datei gehört in einen Ordner „loras“ im Modellordner.</translation>
  </message>
  <message>
   <source>Put its file into the folder of embeddings, or take its name out of the prompt.</source>
   <translation>Die Datei in den Ordner der Embeddings legen oder den Namen aus dem Prompt nehmen.</translation>
  </message>
  <message>
   <source>Put its file into the folder of embeddings. Its hash is {hash}; civitai.com finds it by that.</source>
   <translation>Die Datei in den Ordner der Embeddings legen. Ihr Hash ist {hash}; civitai.com findet sie damit.</translation>
  </message>
  <message>
   <source>Put its file into the folder of upscalers, or choose another one.</source>
   <translation>Seine Datei in den Ordner der Upscaler legen oder einen anderen wählen.</translation>
  </message>
  <message>
   <source>Put its file into {folder}.</source>
   <translation>Die Datei gehört in {folder}.</translation>
  </message>
  <message>
   <source>PyTorch checkpoint</source>
   <translation>PyTorch-Checkpoint</translation>
  </message>
  <message>
   <source>QT_QPA_PLATFORM names {name}, which there is not</source>
   <translation>QT_QPA_PLATFORM nennt {name}, was es nicht gibt</translation>
  </message>
  <message>
   <source>Qwen3 text encoder, {layers} layers {width} wide</source>
   <translation>Qwen3-Textencoder, {layers} Schichten, {width} breit</translation>
  </message>
  <message>
   <source>ROCm is absent or of another version: {reason}</source>
   <translation>ROCm fehlt oder hat eine andere Version: {reason}</translation>
  </message>
  <message>
   <source>Recolor by intensity</source>
   <translation>Neu färben nach Intensität</translation>
  </message>
  <message>
   <source>Recolor by luminance</source>
   <translation>Neu färben nach Helligkeit</translation>
  </message>
  <message>
   <source>Redraw it whole, or without seamless edges.</source>
   <translation>Zeichnen Sie es als Ganzes neu oder ohne nahtlose Ränder.</translation>
  </message>
  <message>
   <source>Reference</source>
   <translation>Referenz</translation>
  </message>
  <message>
   <source>Rename one of them.</source>
   <translation>Eine davon umbenennen.</translation>
  </message>
  <message>
   <source>Rough white strokes along edges, by a small network.</source>
   <translation>Grobe weiße Striche an Kanten, von einem kleinen Netz.</translation>
  </message>
  <message>
   <source>Rough white strokes along the edges that matter most.</source>
   <translation>Grobe weiße Striche an den wichtigsten Kanten.</translation>
  </message>
  <message>
   <source>Rough white strokes, by a difference of two blurs.</source>
   <translation>Grobe weiße Striche, aus dem Unterschied zweier Weichzeichnungen.</translation>
  </message>
  <message>
   <source>Run git lfs pull.</source>
   <translation>git lfs pull ausführen.</translation>
  </message>
  <message>
   <source>SAG blur</source>
   <translation>SAG-Unschärfe</translation>
  </message>
  <message>
   <source>SAG scale</source>
   <translation>SAG-Stärke</translation>
  </message>
  <message>
   <source>SAG threshold</source>
   <translation>SAG-Schwelle</translation>
  </message>
  <message>
   <source>SDXL's second text encoder</source>
   <translation>den zweiten Textencoder von SDXL</translation>
  </message>
  <message>
   <source>Safelight ended twice while it made this picture.</source>
   <translation>Safelight endete zweimal, während es dieses Bild erzeugte.</translation>
  </message>
  <message>
   <source>Scribble (HED)</source>
   <translation>Kritzelei (HED)</translation>
  </message>
  <message>
   <source>Scribble (PiDiNet)</source>
   <translation>Kritzelei (PiDiNet)</translation>
  </message>
  <message>
   <source>Scribble (XDoG)</source>
   <translation>Kritzelei (XDoG)</translation>
  </message>
  <message>
   <source>See that it can be, or choose another folder with SAFELIGHT_CACHE.</source>
   <translation>Das ermöglichen oder mit SAFELIGHT_CACHE einen anderen Ordner wählen.</translation>
  </message>
  <message>
   <source>See that the address or folder is right, then try again.</source>
   <translation>Adresse oder Ordner prüfen, dann erneut versuchen.</translation>
  </message>
  <message>
   <source>See that the disk is there and has room.</source>
   <translation>Prüfen, ob der Datenträger da ist und Platz hat.</translation>
  </message>
  <message>
   <source>See that the folder belongs to you and can be written, then try again.</source>
   <translation>Prüfen, ob der Ordner Ihnen gehört und beschreibbar ist, dann erneut versuchen.</translation>
  </message>
  <message>
   <source>See that the folder can be read, or choose another with SAFELIGHT_STATE.</source>
   <translation>Prüfen, ob der Ordner lesbar ist, oder mit SAFELIGHT_STATE einen anderen wählen.</translation>
  </message>
  <message>
   <source>See that the folder is there and can be written, then try again.</source>
   <translation>Prüfen, ob der Ordner da und beschreibbar ist, dann erneut versuchen.</translation>
  </message>
  <message>
   <source>See that the proxy in the system's settings is right; the variable HTTPS_PROXY names another.</source>
   <translation>Den Proxy in den Systemeinstellungen prüfen; die Variable HTTPS_PROXY nennt einen anderen.</translation>
  </message>
  <message>
   <source>See that this computer is online, then try again; what has arrived is kept.</source>
   <translation>Prüfen, ob dieser Computer online ist, dann erneut versuchen; was angekommen ist, bleibt erhalten.</translation>
  </message>
  <message>
   <source>See that {folder} can be written, then try again.</source>
   <translation>Prüfen, ob in {folder} geschrieben werden kann, dann noch einmal versuchen.</translation>
  </message>
  <message>
   <source>See that {folder} can be written.</source>
   <translation>Prüfen, ob in {folder} geschrieben werden kann.</translation>
  </message>
  <message>
   <source>Set the scale of self-attention guidance to 0.</source>
   <translation>Setzen Sie die Führung durch Selbstaufmerksamkeit auf 0.</translation>
  </message>
  <message>
   <source>Set the seamless edges to none.</source>
   <translation>Stellen Sie die nahtlosen Ränder auf „Keine“.</translation>
  </message>
  <message>
   <source>Several files are called "{shown}": {path} was taken, not {others}.</source>
   <translation>Mehrere Dateien heißen „{shown}“: {path} wurde genommen, nicht {others}.</translation>
  </message>
  <message>
   <source>Several files are called {shown}: {path} is used, not {others}{more}.</source>
   <translation>Mehrere Dateien heißen {shown}: {path} wird verwendet, nicht {others}{more}.</translation>
  </message>
  <message>
   <source>Shorten one of the prompts.</source>
   <translation>Einen der Prompts kürzen.</translation>
  </message>
  <message>
   <source>Shorten the prompt, or choose a file with a simpler name.</source>
   <translation>Den Prompt kürzen oder eine Datei mit einem einfacheren Namen wählen.</translation>
  </message>
  <message>
   <source>Shorten the prompt, or let it change less often.</source>
   <translation>Den Prompt kürzen oder seltener wechseln lassen.</translation>
  </message>
  <message>
   <source>Shorten the prompt.</source>
   <translation>Den Prompt kürzen.</translation>
  </message>
  <message>
   <source>Smaller pictures need {least:.2f} GB, too.</source>
   <translation>Auch kleinere Bilder brauchen {least:.2f} GB.</translation>
  </message>
  <message>
   <source>Soft edges (HED)</source>
   <translation>Weiche Kanten (HED)</translation>
  </message>
  <message>
   <source>Soft edges (PiDiNet)</source>
   <translation>Weiche Kanten (PiDiNet)</translation>
  </message>
  <message>
   <source>Soft white edges with fewer details, by a small network.</source>
   <translation>Weiche weiße Kanten mit weniger Einzelheiten, von einem kleinen Netz.</translation>
  </message>
  <message>
   <source>Soft white edges, the stronger the more they matter.</source>
   <translation>Weiche weiße Kanten, umso stärker, je wichtiger sie sind.</translation>
  </message>
  <message>
   <source>Something unexpected happened in the engine ({kind}).</source>
   <translation>In der Engine ist etwas Unerwartetes geschehen ({kind}).</translation>
  </message>
  <message>
   <source>Something went wrong inside Safelight while it downloaded {file}.</source>
   <translation>In Safelight ist beim Herunterladen von {file} etwas schiefgegangen.</translation>
  </message>
  <message>
   <source>Standard lineart</source>
   <translation>Einfache Strichzeichnung</translation>
  </message>
  <message>
   <source>Stars and favourites cannot be saved in {folder}: {reason}. They hold until the window is closed.</source>
   <translation>Sterne und Favoriten lassen sich in {folder} nicht speichern: {reason}. Sie gelten, bis das Fenster geschlossen wird.</translation>
  </message>
  <message>
   <source>Start Safelight again; if it happens again, install it again.</source>
   <translation>Safelight neu starten; geschieht es wieder, neu installieren.</translation>
  </message>
  <message>
   <source>Start it in a graphical session. {without}</source>
   <translation>In einer grafischen Sitzung starten. {without}</translation>
  </message>
  <message>
   <source>T2I-Adapter</source>
   <translation>T2I-Adapter</translation>
  </message>
  <message>
   <source>T5 text encoder, {layers} layers {width} wide</source>
   <translation>T5-Textencoder, {layers} Schichten, {width} breit</translation>
  </message>
  <message>
   <source>Take 0 to keep the picture, or fewer steps.</source>
   <translation>0 nehmen, um das Bild zu bewahren, oder weniger Schritte.</translation>
  </message>
  <message>
   <source>Take a name out of its own list, or of a list that it names.</source>
   <translation>Streichen Sie einen Namen aus seiner eigenen Liste oder aus einer Liste, die diese nennt.</translation>
  </message>
  <message>
   <source>Take fewer steps, or set sigma_min further below sigma_max.</source>
   <translation>Weniger Schritte nehmen oder sigma_min weiter unter sigma_max setzen.</translation>
  </message>
  <message>
   <source>Take that out of the blend.</source>
   <translation>Das aus dem Blend nehmen.</translation>
  </message>
  <message>
   <source>Take the mask off its control layer.</source>
   <translation>Nehmen Sie die Maske von seiner Steuerebene.</translation>
  </message>
  <message>
   <source>TensorRT starts with compute capability 7.5 (this is {found})</source>
   <translation>TensorRT beginnt mit Compute Capability 7.5 (dies ist {found})</translation>
  </message>
  <message>
   <source>TensorRT-RTX serves compute capability 8.6, 8.9, and 12.0 or newer (this is {found})</source>
   <translation>TensorRT-RTX bedient Compute Capability 8.6, 8.9 und ab 12.0 (dies ist {found})</translation>
  </message>
  <message>
   <source>Text cannot be added: this is no PNG.</source>
   <translation>Text kann nicht hinzugefügt werden: Das ist kein PNG.</translation>
  </message>
  <message>
   <source>The ControlNet-LLLite {path} has a part this version does not know: {name!r}.</source>
   <translation>Das ControlNet-LLLite {path} hat einen Teil, den diese Version nicht kennt: {name!r}.</translation>
  </message>
  <message>
   <source>The LoRA acts on all of this model's blocks alike.</source>
   <translation>Die LoRA wirkt auf alle Blöcke dieses Modells gleich.</translation>
  </message>
  <message>
   <source>The LoRA {file} changes {layer} in a way that is not known: {names}.</source>
   <translation>Die LoRA {file} ändert {layer} auf unbekannte Weise: {names}.</translation>
  </message>
  <message>
   <source>The LoRA {file} does not work: in {layer}, {shapes}{end}.</source>
   <translation>Die LoRA {file} funktioniert nicht: In {layer}: {shapes}{end}.</translation>
  </message>
  <message>
   <source>The LoRA {file} does not work: its change of {name} is of another size.</source>
   <translation>Die LoRA {file} funktioniert nicht: Ihre Änderung von {name} hat eine andere Größe.</translation>
  </message>
  <message>
   <source>The LoRA {file} has no {part} of {layer}.</source>
   <translation>Der LoRA {file} fehlt {part} von {layer}.</translation>
  </message>
  <message>
   <source>The LoRA {file} was not found.</source>
   <translation>Die LoRA {file} wurde nicht gefunden.</translation>
  </message>
  <message>
   <source>The LoRA {name} acts from the first step to the last, as in AUTOMATIC1111.</source>
   <translation>Die LoRA {name} wirkt vom ersten bis zum letzten Schritt, wie in AUTOMATIC1111.</translation>
  </message>
  <message>
   <source>The LoRA {name} in the negative prompt does not act.</source>
   <translation>Die LoRA {name} im negativen Prompt wirkt nicht.</translation>
  </message>
  <message>
   <source>The LoRA {name} in the prompt does not act: the tool that is followed reads its tag as words.</source>
   <translation>Die LoRA {name} im Prompt wirkt nicht: Das Programm, dem gefolgt wird, liest ihr Tag als Wörter.</translation>
  </message>
  <message>
   <source>The LoRA {path} does not work: {places} lies outside of the weight.</source>
   <translation>Die LoRA {path} funktioniert nicht: {places} liegt außerhalb des Gewichts.</translation>
  </message>
  <message>
   <source>The LoRA {path} holds values that are not a number, in {self}.</source>
   <translation>Die LoRA {path} enthält Werte, die keine Zahl sind, in {self}.</translation>
  </message>
  <message>
   <source>The LoRA {shown} has another hash than the one that was asked for.</source>
   <translation>Die LoRA {shown} hat einen anderen Hash als verlangt.</translation>
  </message>
  <message>
   <source>The LoRA {shown} was not found; the picture was made without it.</source>
   <translation>Die LoRA {shown} wurde nicht gefunden; das Bild entstand ohne sie.</translation>
  </message>
  <message>
   <source>The UNet of {path} adds {added_width} numbers to the time, as no {title} UNet does.</source>
   <translation>Das UNet von {path} fügt der Zeit {added_width} Zahlen hinzu, was kein UNet von {title} tut.</translation>
  </message>
  <message>
   <source>The UNet of {path} attends in another way than is run: {name!r} has the shape {list}, not {list_2}.</source>
   <translation>Das UNet von {path} hat eine andere Attention als die hier gerechnete: {name!r} hat die Form {list}, nicht {list_2}.</translation>
  </message>
  <message>
   <source>The UNet of {path} takes {in_channels} channels, as no {title} UNet does.</source>
   <translation>Das UNet von {path} nimmt {in_channels} Kanäle, was kein UNet von {title} tut.</translation>
  </message>
  <message>
   <source>The app sent something the engine does not understand.</source>
   <translation>Die App hat etwas gesendet, das die Engine nicht versteht.</translation>
  </message>
  <message>
   <source>The app speaks version {protocol} of the protocol, the engine {protocol_version}.</source>
   <translation>Die App spricht Version {protocol} des Protokolls, die Engine {protocol_version}.</translation>
  </message>
  <message>
   <source>The archive of version {version} cannot be unpacked.</source>
   <translation>Das Archiv von Version {version} lässt sich nicht entpacken.</translation>
  </message>
  <message>
   <source>The archive of version {version} is missing or damaged.</source>
   <translation>Das Archiv von Version {version} fehlt oder ist beschädigt.</translation>
  </message>
  <message>
   <source>The backends are {names}; auto chooses for you.</source>
   <translation>Die Backends sind {names}; auto wählt selbst.</translation>
  </message>
  <message>
   <source>The brightest of each pixel's three channels.</source>
   <translation>Der hellste der drei Kanäle jedes Pixels.</translation>
  </message>
  <message>
   <source>The cache holds nothing called {unknown}.</source>
   <translation>Der Zwischenspeicher enthält nichts mit dem Namen {unknown}.</translation>
  </message>
  <message>
   <source>The connection to {host} broke off again and again.</source>
   <translation>Die Verbindung zu {host} brach immer wieder ab.</translation>
  </message>
  <message>
   <source>The control network of {image} was not found; the picture was made without it.</source>
   <translation>Das Steuernetz zu {image} wurde nicht gefunden; das Bild entstand ohne es.</translation>
  </message>
  <message>
   <source>The control network {name} was not found.</source>
   <translation>Das Steuernetz {name} wurde nicht gefunden.</translation>
  </message>
  <message>
   <source>The control network {name} was not found; the picture was made without it.</source>
   <translation>Das Steuernetz {name} wurde nicht gefunden; das Bild entstand ohne es.</translation>
  </message>
  <message>
   <source>The copies of the weights in the cache are damaged whenever they are made.</source>
   <translation>Die Kopien der Gewichte im Zwischenspeicher sind beschädigt, sooft sie gemacht werden.</translation>
  </message>
  <message>
   <source>The direction of each surface as a colour, from the depth of the picture.</source>
   <translation>Die Richtung jeder Fläche als Farbe, aus der Tiefe des Bildes.</translation>
  </message>
  <message>
   <source>The disk of {folder} is full.</source>
   <translation>Der Datenträger von {folder} ist voll.</translation>
  </message>
  <message>
   <source>The disk or the memory of this computer may be failing.</source>
   <translation>Vielleicht versagt der Datenträger oder der Speicher dieses Computers.</translation>
  </message>
  <message>
   <source>The download needs a login or an API key; get the file through the browser.</source>
   <translation>Der Download verlangt eine Anmeldung oder einen API-Schlüssel; die Datei mit dem Browser holen.</translation>
  </message>
  <message>
   <source>The download of {file} was stopped.</source>
   <translation>Der Download von {file} wurde angehalten.</translation>
  </message>
  <message>
   <source>The embedding "{one}" was not found; the picture was made without it.</source>
   <translation>Das Embedding „{one}“ wurde nicht gefunden; das Bild entstand ohne es.</translation>
  </message>
  <message>
   <source>The embedding "{shown}" has {count:,} vectors; at most {most} have room, so its name was read as words.</source>
   <translation>Das Embedding „{shown}“ hat {count:,} Vektoren; höchstens {most} haben Platz, also wurde sein Name wörtlich gelesen.</translation>
  </message>
  <message>
   <source>The embedding "{shown}" is for {purpose}, not for this model; its name was read as words.</source>
   <translation>Das Embedding „{shown}“ ist für {purpose}, nicht für dieses Modell; sein Name wurde wörtlich gelesen.</translation>
  </message>
  <message>
   <source>The embedding "{shown}" is for {purpose}; a text encoder of this model left it out.</source>
   <translation>Das Embedding „{shown}“ ist für {purpose}; ein Textencoder dieses Modells ließ es weg.</translation>
  </message>
  <message>
   <source>The embedding "{shown}" was not found; the picture was made without it.</source>
   <translation>Das Embedding „{shown}“ wurde nicht gefunden; das Bild entstand ohne es.</translation>
  </message>
  <message>
   <source>The embedding "{shown}" was not used: {message}</source>
   <translation>Das Embedding „{shown}“ wurde nicht verwendet: {message}</translation>
  </message>
  <message>
   <source>The engine belongs to another version of Safelight.</source>
   <translation>Die Engine gehört zu einer anderen Version von Safelight.</translation>
  </message>
  <message>
   <source>The engine cannot be started.</source>
   <translation>Die Engine kann nicht gestartet werden.</translation>
  </message>
  <message>
   <source>The engine ended {n} times in a short while.</source>
   <translation>Die Engine hat sich in kurzer Zeit {n}-mal beendet.</translation>
  </message>
  <message>
   <source>The engine said more than can be read, and was stopped.</source>
   <translation>Die Engine hat mehr gesendet, als gelesen werden kann, und wurde beendet.</translation>
  </message>
  <message>
   <source>The engine sent something that cannot be understood, and was stopped.</source>
   <translation>Die Engine hat etwas Unverständliches gesendet und wurde beendet.</translation>
  </message>
  <message>
   <source>The engine was stopped by force.</source>
   <translation>Die Engine wurde zwangsweise beendet.</translation>
  </message>
  <message>
   <source>The engine {what}.</source>
   <translation>Die Engine {what}.</translation>
  </message>
  <message>
   <source>The file has functions of its own.</source>
   <translation>Die Datei hat eigene Funktionen.</translation>
  </message>
  <message>
   <source>The file has graphs within its graph.</source>
   <translation>Die Datei hat Graphen in ihrem Graphen.</translation>
  </message>
  <message>
   <source>The file has sparse tensors.</source>
   <translation>Die Datei hat dünn besetzte Tensoren.</translation>
  </message>
  <message>
   <source>The file is damaged, or its training failed: download it again, or use another.</source>
   <translation>Die Datei ist beschädigt oder ihr Training misslungen: neu herunterladen oder eine andere verwenden.</translation>
  </message>
  <message>
   <source>The file is damaged, or was merged wrongly: download it again, or use another.</source>
   <translation>Die Datei ist beschädigt oder falsch verschmolzen: neu herunterladen oder eine andere verwenden.</translation>
  </message>
  <message>
   <source>The file is damaged: download it again, or use another.</source>
   <translation>Die Datei ist beschädigt: neu herunterladen oder eine andere verwenden.</translation>
  </message>
  <message>
   <source>The file is incomplete or of another architecture: download it again.</source>
   <translation>Die Datei ist unvollständig oder von anderer Architektur: neu herunterladen.</translation>
  </message>
  <message>
   <source>The file is of ONNX's operator set {opset}; sets {low} to {high} are run.</source>
   <translation>Die Datei ist von ONNX' Operatorensatz {opset}; ausgeführt werden die Sätze {low} bis {high}.</translation>
  </message>
  <message>
   <source>The file is probably damaged: download it again.</source>
   <translation>Die Datei ist wahrscheinlich beschädigt: neu herunterladen.</translation>
  </message>
  <message>
   <source>The file may be damaged: download it again.</source>
   <translation>Die Datei ist vielleicht beschädigt: Laden Sie sie erneut herunter.</translation>
  </message>
  <message>
   <source>The file was kept as {name}.</source>
   <translation>Die Datei wurde als {name} aufbewahrt.</translation>
  </message>
  <message>
   <source>The file {path} does not say how to sample the model.</source>
   <translation>Die Datei {path} sagt nicht, wie das Modell zu sampeln ist.</translation>
  </message>
  <message>
   <source>The folder mixes files of two models; download it again.</source>
   <translation>Der Ordner mischt Dateien zweier Modelle; neu herunterladen.</translation>
  </message>
  <message>
   <source>The folder of runtime packs cannot be written: {value}.</source>
   <translation>In den Ordner der Laufzeitpakete kann nicht geschrieben werden: {value}.</translation>
  </message>
  <message>
   <source>The folder {path} is for {pipeline} and has no UNet; this version runs {titles}.</source>
   <translation>Der Ordner {path} ist für {pipeline} und hat kein UNet; diese Version rechnet mit {titles}.</translation>
  </message>
  <message>
   <source>The folder {path} is for {pipeline}, which is not run.</source>
   <translation>Der Ordner {path} ist für {pipeline}, womit nicht gerechnet wird.</translation>
  </message>
  <message>
   <source>The folder {path} is not a control network: it has no config.json.</source>
   <translation>Der Ordner {path} ist kein Steuernetz: Er hat keine config.json.</translation>
  </message>
  <message>
   <source>The folder {path} is not a diffusers model: it has no model_index.json.</source>
   <translation>Der Ordner {path} ist kein diffusers-Modell: Er hat keine model_index.json.</translation>
  </message>
  <message>
   <source>The gallery's index in {folder} cannot be written; some pictures may not be found.</source>
   <translation>Das Verzeichnis der Galerie in {folder} kann nicht geschrieben werden; manche Bilder werden vielleicht nicht gefunden.</translation>
  </message>
  <message>
   <source>The hardware cannot be checked: there is no room for temporary files.</source>
   <translation>Die Hardware kann nicht geprüft werden: Für temporäre Dateien ist kein Platz.</translation>
  </message>
  <message>
   <source>The hypernetwork {name} in the prompt was left out.</source>
   <translation>Das Hypernetzwerk {name} im Prompt wurde weggelassen.</translation>
  </message>
  <message>
   <source>The image prompt adapter {adapter} is for {family}; the model is {model}.</source>
   <translation>Der Bild-Prompt-Adapter {adapter} ist für {family}; das Modell ist {model}.</translation>
  </message>
  <message>
   <source>The image prompt adapter {name} was not found.</source>
   <translation>Der Bild-Prompt-Adapter {name} wurde nicht gefunden.</translation>
  </message>
  <message>
   <source>The image prompt adapter {path} lacks some of its weights.</source>
   <translation>Dem Bild-Prompt-Adapter {path} fehlen einige seiner Gewichte.</translation>
  </message>
  <message>
   <source>The image prompt {image} was left out: its adapter was not found.</source>
   <translation>Der Bild-Prompt {image} wurde weggelassen: sein Adapter wurde nicht gefunden.</translation>
  </message>
  <message>
   <source>The image prompt {image} was left out: its adapter {name} was not found.</source>
   <translation>Der Bild-Prompt {image} wurde weggelassen: Sein Adapter {name} wurde nicht gefunden.</translation>
  </message>
  <message>
   <source>The levels of the schedule {label} do not fall from each step to the next.</source>
   <translation>Die Stufen des Zeitplans {label} fallen nicht von jedem Schritt zum nächsten.</translation>
  </message>
  <message>
   <source>The list of begun installations of runtimes could not be read.</source>
   <translation>Die Liste begonnener Installationen von Laufzeiten war nicht lesbar.</translation>
  </message>
  <message>
   <source>The list of downloads cannot be read; it begins anew. What has arrived is kept.</source>
   <translation>Die Liste der Downloads ist nicht lesbar; sie beginnt neu. Was angekommen ist, bleibt erhalten.</translation>
  </message>
  <message>
   <source>The list of downloads was left by a newer version of Safelight; this one begins anew.</source>
   <translation>Die Liste der Downloads stammt von einer neueren Version von Safelight; diese beginnt neu.</translation>
  </message>
  <message>
   <source>The list of runtime packs cannot be read.</source>
   <translation>Die Liste der Laufzeitpakete kann nicht gelesen werden.</translation>
  </message>
  <message>
   <source>The list of the gallery's folders cannot be read; only new pictures' folder is shown.</source>
   <translation>Die Liste der Ordner der Galerie ist nicht lesbar; nur der Ordner neuer Bilder wird gezeigt.</translation>
  </message>
  <message>
   <source>The list of updates is damaged, or is not by the makers of Safelight.</source>
   <translation>Die Liste der Updates ist beschädigt oder nicht von den Machern von Safelight.</translation>
  </message>
  <message>
   <source>The list of updates is older than the one that was read before.</source>
   <translation>Die Liste der Updates ist älter als die zuvor gelesene.</translation>
  </message>
  <message>
   <source>The list of updates is that of {found!r}, not of {wanted!r}.</source>
   <translation>Die Liste der Updates ist die von {found!r}, nicht von {wanted!r}.</translation>
  </message>
  <message>
   <source>The list of updates makes no sense to this version of Safelight.</source>
   <translation>Diese Version von Safelight versteht die Liste der Updates nicht.</translation>
  </message>
  <message>
   <source>The list of updates was valid until {day}.</source>
   <translation>Die Liste der Updates galt bis {day}.</translation>
  </message>
  <message>
   <source>The list of your folders of models cannot be read; only the usual are looked into.</source>
   <translation>Die Liste Ihrer Modellordner ist nicht lesbar; nur die üblichen werden durchsucht.</translation>
  </message>
  <message>
   <source>The map cannot be written to {folder}.</source>
   <translation>Die Karte kann nicht nach {folder} geschrieben werden.</translation>
  </message>
  <message>
   <source>The map of {name} is {fault}.</source>
   <translation>Die Karte von {name} ist {fault}.</translation>
  </message>
  <message>
   <source>The map would be {width} x {height} pixels; a side has at most {most}.</source>
   <translation>Die Karte hätte {width} x {height} Pixel; eine Seite hat höchstens {most}.</translation>
  </message>
  <message>
   <source>The map {image} is black, so {network} has nothing to follow.</source>
   <translation>Die Karte {image} ist schwarz, also hat {network} nichts, dem es folgen könnte.</translation>
  </message>
  <message>
   <source>The memory limit is the one that acts here.</source>
   <translation>Hier wirkt die Speichergrenze.</translation>
  </message>
  <message>
   <source>The memory of the next pictures is planned when no job runs.</source>
   <translation>Der Speicher der nächsten Bilder wird geplant, wenn kein Auftrag läuft.</translation>
  </message>
  <message>
   <source>The middle of {model} has no attention to be guided by.</source>
   <translation>Die Mitte von {model} hat keine Aufmerksamkeit, durch die geführt werden könnte.</translation>
  </message>
  <message>
   <source>The model follows its own map in full, in all steps.</source>
   <translation>Das Modell folgt seiner eigenen Karte ganz und in allen Schritten.</translation>
  </message>
  <message>
   <source>The model is probably damaged: download it again, or try another VAE.</source>
   <translation>Das Modell ist wahrscheinlich beschädigt: neu herunterladen oder eine andere VAE versuchen.</translation>
  </message>
  <message>
   <source>The model {name} of a second pass was not found.</source>
   <translation>Das Modell {name} eines zweiten Durchgangs wurde nicht gefunden.</translation>
  </message>
  <message>
   <source>The name {beginning!r} is longer than this system takes.</source>
   <translation>Der Name {beginning!r} ist länger, als dieses System zulässt.</translation>
  </message>
  <message>
   <source>The nearer, the brighter.</source>
   <translation>Je näher, desto heller.</translation>
  </message>
  <message>
   <source>The networks of {family} are not timed one by one.</source>
   <translation>Die Netze von {family} werden nicht einzeln gemessen.</translation>
  </message>
  <message>
   <source>The number of steps must be between 1 and {most}, not {steps}.</source>
   <translation>Die Zahl der Schritte muss zwischen 1 und {most} liegen, nicht bei {steps}.</translation>
  </message>
  <message>
   <source>The numbers of the file are in other files.</source>
   <translation>Die Zahlen der Datei stehen in anderen Dateien.</translation>
  </message>
  <message>
   <source>The operator {name} is not run here.</source>
   <translation>Der Operator {name} wird hier nicht ausgeführt.</translation>
  </message>
  <message>
   <source>The operator {name} is of {domain}, and not one of ONNX.</source>
   <translation>Der Operator {name} ist von {domain} und keiner von ONNX.</translation>
  </message>
  <message>
   <source>The packs are: {known}.</source>
   <translation>Die Pakete sind: {known}.</translation>
  </message>
  <message>
   <source>The picture cannot be written to {folder}: {reason}.</source>
   <translation>Das Bild kann nicht nach {folder} geschrieben werden: {reason}.</translation>
  </message>
  <message>
   <source>The picture is that of the tool. By the convention of diffusers the LoRA acts as trained.</source>
   <translation>Das Bild ist das jenes Programms. Nach der Art von diffusers wirkt die LoRA wie trainiert.</translation>
  </message>
  <message>
   <source>The picture is the same. With other programs closed, or a smaller size, there may be room for all of the model.</source>
   <translation>Das Bild ist dasselbe. Sind andere Programme geschlossen oder ist es kleiner, hat vielleicht das ganze Modell Platz.</translation>
  </message>
  <message>
   <source>The picture itself, made smaller so that its details are painted anew.</source>
   <translation>Das Bild selbst, verkleinert, damit seine Einzelheiten neu gemalt werden.</translation>
  </message>
  <message>
   <source>The picture without its details, which are painted anew.</source>
   <translation>Das Bild ohne seine Einzelheiten, die neu gemalt werden.</translation>
  </message>
  <message>
   <source>The picture would be {width} × {height}; {most} million pixels is the most.</source>
   <translation>Das Bild wäre {width} × {height} groß; {most} Millionen Pixel sind das Höchste.</translation>
  </message>
  <message>
   <source>The picture {path} cannot be read: {fault}.</source>
   <translation>Das Bild {path} lässt sich nicht lesen: {fault}.</translation>
  </message>
  <message>
   <source>The picture {path} cannot be read: {reason}.</source>
   <translation>Das Bild {path} kann nicht gelesen werden: {reason}.</translation>
  </message>
  <message>
   <source>The picture {path} is not there any more.</source>
   <translation>Das Bild {path} ist nicht mehr da.</translation>
  </message>
  <message>
   <source>The picture {path} {lack}</source>
   <translation>Das Bild {path} {lack}</translation>
  </message>
  <message>
   <source>The picture's colours and materials, pulled about at random.</source>
   <translation>Farben und Stoffe des Bildes, zufällig verzogen.</translation>
  </message>
  <message>
   <source>The picture's colours in squares of 64 pixels.</source>
   <translation>Die Farben des Bildes in Quadraten von 64 Pixeln.</translation>
  </message>
  <message>
   <source>The picture's lightness without its colours.</source>
   <translation>Die Helligkeit des Bildes ohne seine Farben.</translation>
  </message>
  <message>
   <source>The picture's look and subject, seen by the model itself: no network.</source>
   <translation>Aussehen und Motiv des Bildes, die das Modell selbst sieht: ohne Netz.</translation>
  </message>
  <message>
   <source>The prompt changes {count:,} times and is too long for that.</source>
   <translation>Der Prompt wechselt {count:,}-mal und ist dafür zu lang.</translation>
  </message>
  <message>
   <source>The prompt comes to more than {max_rows:,} pieces to encode.</source>
   <translation>Der Prompt ergibt mehr als {max_rows:,} Stücke zum Kodieren.</translation>
  </message>
  <message>
   <source>The prompt has {used:,} tokens or more; at most {limit:,} can be used.</source>
   <translation>Der Prompt hat {used:,} Tokens oder mehr; höchstens {limit:,} können verwendet werden.</translation>
  </message>
  <message>
   <source>The prompt names the LoRA {name} {count} times.</source>
   <translation>Der Prompt nennt die LoRA {name} {count}-mal.</translation>
  </message>
  <message>
   <source>The prompt takes the room of {tokens} tokens, which is too many.</source>
   <translation>Der Prompt braucht den Platz von {tokens} Tokens, und das sind zu viele.</translation>
  </message>
  <message>
   <source>The proxy of this network does not lead to {host}.</source>
   <translation>Der Proxy dieses Netzwerks führt nicht zu {host}.</translation>
  </message>
  <message>
   <source>The queue cannot be saved in {folder}: {reason}. It goes on without.</source>
   <translation>Die Warteschlange lässt sich in {folder} nicht speichern: {reason}. Sie läuft ungespeichert weiter.</translation>
  </message>
  <message>
   <source>The queue has no room for so many pictures more.</source>
   <translation>Die Warteschlange hat keinen Platz für so viele weitere Bilder.</translation>
  </message>
  <message>
   <source>The queue in {path} cannot be read: {reason}.</source>
   <translation>Die Warteschlange in {path} ist nicht lesbar: {reason}.</translation>
  </message>
  <message>
   <source>The queue was left by a newer version of Safelight, and this one starts without it.</source>
   <translation>Die Warteschlange stammt von einer neueren Version von Safelight; diese beginnt ohne sie.</translation>
  </message>
  <message>
   <source>The result of any network that makes a map of a picture.</source>
   <translation>Das Ergebnis eines beliebigen Netzes, das aus einem Bild eine Karte macht.</translation>
  </message>
  <message>
   <source>The result of the {phase} phase is {reason}, at the safest precision too.</source>
   <translation>Das Ergebnis der Phase {phase} ist {reason}, auch in der sichersten Genauigkeit.</translation>
  </message>
  <message>
   <source>The result of {path} is {reason}.</source>
   <translation>Das Ergebnis von {path} ist {reason}.</translation>
  </message>
  <message>
   <source>The runtime pack {name} is left out: {reason}.</source>
   <translation>Das Laufzeitpaket {name} wird ausgelassen: {reason}.</translation>
  </message>
  <message>
   <source>The runtime pack {pack} is not installed.</source>
   <translation>Das Laufzeitpaket {pack} ist nicht installiert.</translation>
  </message>
  <message>
   <source>The sampler option {option} must be between 0 and {most:.0f}, not {value}.</source>
   <translation>Die Sampler-Option {option} muss zwischen 0 und {most:.0f} liegen, nicht bei {value}.</translation>
  </message>
  <message>
   <source>The sampler {label} has no option {option}.</source>
   <translation>Der Sampler {label} hat keine Option {option}.</translation>
  </message>
  <message>
   <source>The schedule option {option} must be between {low:g} and {high:g}, not {value:g}.</source>
   <translation>Die Option {option} des Zeitplans muss zwischen {low:g} und {high:g} liegen, nicht bei {value:g}.</translation>
  </message>
  <message>
   <source>The schedule {label} has no option {option}.</source>
   <translation>Der Zeitplan {label} hat keine Option {option}.</translation>
  </message>
  <message>
   <source>The seed {seed} is out of range.</source>
   <translation>Der Seed {seed} liegt außerhalb des Bereichs.</translation>
  </message>
  <message>
   <source>The settings of each model were left by a newer version of Safelight; models begin with their own.</source>
   <translation>Die Einstellungen je Modell stammen von einer neueren Version von Safelight; Modelle beginnen mit ihren eigenen.</translation>
  </message>
  <message>
   <source>The settings that you use with each model cannot be kept.</source>
   <translation>Die Einstellungen, die Sie mit jedem Modell verwenden, können nicht aufbewahrt werden.</translation>
  </message>
  <message>
   <source>The settings you used with each model cannot be read; models begin with their own.</source>
   <translation>Die zuletzt mit jedem Modell verwendeten Einstellungen sind nicht lesbar; Modelle beginnen mit ihren eigenen.</translation>
  </message>
  <message>
   <source>The stars and favourites in {path} cannot be read: {reason}.</source>
   <translation>Die Sterne und Favoriten in {path} sind nicht lesbar: {reason}.</translation>
  </message>
  <message>
   <source>The stars and favourites were left by a newer version of Safelight, and this one starts without them.</source>
   <translation>Die Sterne und Favoriten stammen von einer neueren Version von Safelight; diese beginnt ohne sie.</translation>
  </message>
  <message>
   <source>The stars of {n:,} pictures could not be written beside them.</source>
   <translation>Die Sterne von {n:,} Bildern ließen sich nicht neben sie schreiben.</translation>
  </message>
  <message>
   <source>The strength must be between 0 and 1, not {strength}.</source>
   <translation>Die Stärke muss zwischen 0 und 1 liegen, nicht bei {strength}.</translation>
  </message>
  <message>
   <source>The strength {strength:g} is too low for {steps} steps.</source>
   <translation>Die Stärke {strength:g} ist zu gering für {steps} Schritte.</translation>
  </message>
  <message>
   <source>The text encoder of {path} knows {words} words of its own, and its tokenizer is missing.</source>
   <translation>Der Textencoder von {path} kennt {words} eigene Wörter, und sein Tokenizer fehlt.</translation>
  </message>
  <message>
   <source>The times that pictures take cannot be kept.</source>
   <translation>Die Zeiten, die Bilder brauchen, können nicht aufbewahrt werden.</translation>
  </message>
  <message>
   <source>The tiny VAE has a decoder only, and a picture is to be encoded.</source>
   <translation>Die kleine VAE hat nur einen Decoder, und ein Bild soll kodiert werden.</translation>
  </message>
  <message>
   <source>The tokenizer file {path} cannot be read.</source>
   <translation>Die Tokenizer-Datei {path} kann nicht gelesen werden.</translation>
  </message>
  <message>
   <source>The tokenizer in {folder} is damaged: {reason}.</source>
   <translation>Der Tokenizer in {folder} ist beschädigt: {reason}.</translation>
  </message>
  <message>
   <source>The update was stopped.</source>
   <translation>Das Update wurde angehalten.</translation>
  </message>
  <message>
   <source>The upscaler {name} was not found.</source>
   <translation>Der Upscaler {name} wurde nicht gefunden.</translation>
  </message>
  <message>
   <source>The variable {name} can name a web address or a folder.</source>
   <translation>Die Variable {name} kann eine Webadresse oder einen Ordner nennen.</translation>
  </message>
  <message>
   <source>The version before it stays in use.</source>
   <translation>Die Version davor wird weiter verwendet.</translation>
  </message>
  <message>
   <source>The weight {weight} holds values that are not a number.</source>
   <translation>Das Gewicht {weight} enthält Werte, die keine Zahl sind.</translation>
  </message>
  <message>
   <source>The weights by block of {path} are for another kind of model.</source>
   <translation>Die Gewichte je Block von {path} sind für eine andere Art von Modell.</translation>
  </message>
  <message>
   <source>The weights that LoRAs change could not be replaced in the network compiled for {device}.</source>
   <translation>Die Gewichte, die LoRAs ändern, konnten im Netz für {device} nicht ersetzt werden.</translation>
  </message>
  <message>
   <source>The weights {name} of a preprocessor were not found.</source>
   <translation>Die Gewichte {name} einer Vorverarbeitung wurden nicht gefunden.</translation>
  </message>
  <message>
   <source>The working copy of the weights ({size:.1f} GB) cannot be written to {folder}: {strerror}.</source>
   <translation>Die Arbeitskopie der Gewichte ({size:.1f} GB) kann nicht nach {folder} geschrieben werden: {strerror}.</translation>
  </message>
  <message>
   <source>The {kind} {path} cannot be read: {fault}.</source>
   <translation>{path} kann nicht gelesen werden ({kind}): {fault}.</translation>
  </message>
  <message>
   <source>The {kind} {path} cannot be read: {problem}.</source>
   <translation>{path} kann nicht gelesen werden ({kind}): {problem}.</translation>
  </message>
  <message>
   <source>The {labels} does not fit: it is {found}, the UNet needs {needed}.</source>
   <translation>{labels} passt nicht: vorhanden ist {found}, das UNet braucht {needed}.</translation>
  </message>
  <message>
   <source>The {labels} does not fit: it is {found}, the transformer needs {needed}.</source>
   <translation>{labels} passt nicht: gefunden {found}, der Transformer braucht {needed}.</translation>
  </message>
  <message>
   <source>The {label} of {path} has a part this version does not know: {name!r}.</source>
   <translation>{label} von {path}: Diese Version kennt den Teil {name!r} nicht.</translation>
  </message>
  <message>
   <source>The {label} of {path} is stored as {dtype}.</source>
   <translation>{label} von {path}: gespeichert als {dtype}.</translation>
  </message>
  <message>
   <source>The {label} of {path} is stored as {kind}, which no device here was proved to compute rightly.</source>
   <translation>{label} von {path} ist als {kind} gespeichert; dass ein Gerät hier damit richtig rechnet, ist nicht nachgewiesen.</translation>
  </message>
  <message>
   <source>The {label} of {path} scales {weight!r} in parts, which this version does not read.</source>
   <translation>{label} von {path}: {weight!r} wird in Teilen skaliert, was diese Version nicht liest.</translation>
  </message>
  <message>
   <source>The {label} of {path} was saved with an IP-Adapter in it.</source>
   <translation>{label} von {path}: Darin ist ein IP-Adapter mitgespeichert.</translation>
  </message>
  <message>
   <source>The {name} has {count:,} characters; at most {most:,} are accepted.</source>
   <translation>{name}: {count:,} Zeichen; höchstens {most:,} sind möglich.</translation>
  </message>
  <message>
   <source>The {name} is {value:,}; it must be from {low:,} to {high:,}.</source>
   <translation>{name}: Der Wert ist {value:,}; er muss zwischen {low:,} und {high:,} liegen.</translation>
  </message>
  <message>
   <source>The {name} is {value}; it may be from {low} to {high}.</source>
   <translation>{name}: {value}; erlaubt ist {low} bis {high}.</translation>
  </message>
  <message>
   <source>The {name} {label} does not work with this model.</source>
   <translation>{label} geht bei diesem Modell nicht ({name}).</translation>
  </message>
  <message>
   <source>The {name} {value} is no multiple of {multiple}.</source>
   <translation>{name}: {value} ist kein Vielfaches von {multiple}.</translation>
  </message>
  <message>
   <source>The {network} compiled for {device} can be written neither to {folder} nor to {gettempdir}.</source>
   <translation>{network} für {device} kann weder in {folder} noch in {gettempdir} geschrieben werden.</translation>
  </message>
  <message>
   <source>The {self} weight {name} {found}; {list} is needed.</source>
   <translation>{self}: Das Gewicht {name} {found}; gebraucht wird {list}.</translation>
  </message>
  <message>
   <source>There are no packages for it.</source>
   <translation>Dafür gibt es keine Pakete.</translation>
  </message>
  <message>
   <source>There is no backend {wanted}.</source>
   <translation>Es gibt kein Backend {wanted}.</translation>
  </message>
  <message>
   <source>There is no connection to {host}.</source>
   <translation>Es gibt keine Verbindung zu {host}.</translation>
  </message>
  <message>
   <source>There is no earlier version of the runtime pack {pack} here.</source>
   <translation>Vom Laufzeitpaket {pack} gibt es hier keine frühere Version.</translation>
  </message>
  <message>
   <source>There is no family {name!r}.</source>
   <translation>Es gibt keine Familie {name!r}.</translation>
  </message>
  <message>
   <source>There is no home folder {beginning!r} stands for.</source>
   <translation>Es gibt keinen persönlichen Ordner, für den {beginning!r} steht.</translation>
  </message>
  <message>
   <source>There is no list of updates at {place}.</source>
   <translation>Bei {place} gibt es keine Liste von Updates.</translation>
  </message>
  <message>
   <source>There is no room for it in {folder}: {value:,} MB more are needed.</source>
   <translation>In {folder} ist dafür kein Platz: Es fehlen {value:,} MB.</translation>
  </message>
  <message>
   <source>There is no room for the new version in {folder}: it takes {needed:,} MB, and {free:,} MB are free.</source>
   <translation>In {folder} ist kein Platz für die neue Version: Sie braucht {needed:,} MB, frei sind {free:,} MB.</translation>
  </message>
  <message>
   <source>There is no room for the picture in {folder}: {size:.1f} MB are needed.</source>
   <translation>In {folder} ist kein Platz für das Bild: Es braucht {size:.1f} MB.</translation>
  </message>
  <message>
   <source>There is no room for {file} in {folder}: {needed} more are needed.</source>
   <translation>Für {file} ist in {folder} kein Platz: {needed} mehr sind nötig.</translation>
  </message>
  <message>
   <source>There is no room for {target} in {parent}: {size:,.0f} MB are needed.</source>
   <translation>In {parent} ist kein Platz für {target}: {size:,.0f} MB werden gebraucht.</translation>
  </message>
  <message>
   <source>There is no runtime pack {name!r}.</source>
   <translation>Es gibt kein Laufzeitpaket {name!r}.</translation>
  </message>
  <message>
   <source>There is no upscaler {name}.</source>
   <translation>Es gibt keinen Upscaler {name}.</translation>
  </message>
  <message>
   <source>There is no version before this one to go back to.</source>
   <translation>Es gibt keine Version vor dieser, zu der man zurückkehren könnte.</translation>
  </message>
  <message>
   <source>There is not enough memory on {device}.</source>
   <translation>Auf {device} ist nicht genug Speicher.</translation>
  </message>
  <message>
   <source>There is not enough memory.</source>
   <translation>Der Speicher reicht nicht.</translation>
  </message>
  <message>
   <source>There is nothing at {path} any more.</source>
   <translation>Unter {path} ist nichts mehr.</translation>
  </message>
  <message>
   <source>There is something else in the place of the list of updates.</source>
   <translation>Anstelle der Liste der Updates ist dort etwas anderes.</translation>
  </message>
  <message>
   <source>There was not enough memory to decode the picture whole; it was done in tiles.</source>
   <translation>Der Speicher reichte nicht, um das Bild im Ganzen zu dekodieren; es geschah in Kacheln.</translation>
  </message>
  <message>
   <source>These changes were left out.</source>
   <translation>Diese Änderungen wurden weggelassen.</translation>
  </message>
  <message>
   <source>They are kept by Safelight all the same.</source>
   <translation>Safelight behält sie trotzdem.</translation>
  </message>
  <message>
   <source>Thin white lines where brightness or colour changes at once.</source>
   <translation>Dünne weiße Linien, wo Helligkeit oder Farbe plötzlich wechselt.</translation>
  </message>
  <message>
   <source>This Safelight runs from its sources, which it does not change.</source>
   <translation>Dieses Safelight läuft aus seinen Quellen, die es nicht ändert.</translation>
  </message>
  <message>
   <source>This cannot be sent to the engine: a text is too long or not valid.</source>
   <translation>Das kann nicht an die Engine gesendet werden: Ein Text ist zu lang oder ungültig.</translation>
  </message>
  <message>
   <source>This copy of Safelight does not know where new versions are published.</source>
   <translation>Dieses Safelight weiß nicht, wo neue Versionen veröffentlicht werden.</translation>
  </message>
  <message>
   <source>This model has no such layers, or they are changed in a way that is not known.</source>
   <translation>Dieses Modell hat solche Schichten nicht, oder sie werden auf unbekannte Weise geändert.</translation>
  </message>
  <message>
   <source>This model makes pictures of at most {pixels} pixels a side.</source>
   <translation>Dieses Modell macht Bilder mit höchstens {pixels} Pixeln je Seite.</translation>
  </message>
  <message>
   <source>This model takes no image prompts.</source>
   <translation>Dieses Modell nimmt keine Bild-Prompts.</translation>
  </message>
  <message>
   <source>This model was not trained by flow matching.</source>
   <translation>Dieses Modell wurde nicht durch Flow Matching trainiert.</translation>
  </message>
  <message>
   <source>This version cannot split such a change: use another file of the LoRA.</source>
   <translation>Diese Version kann eine solche Änderung nicht teilen: eine andere Datei der LoRA verwenden.</translation>
  </message>
  <message>
   <source>This version reads fp32, fp16, bf16 and fp8; get one of those.</source>
   <translation>Diese Version liest fp32, fp16, bf16 und fp8; eines davon beschaffen.</translation>
  </message>
  <message>
   <source>This version stays.</source>
   <translation>Diese Version bleibt.</translation>
  </message>
  <message>
   <source>This version stays. The notes of the new one may say what it needs.</source>
   <translation>Diese Version bleibt. Die Hinweise zur neuen sagen vielleicht, was sie braucht.</translation>
  </message>
  <message>
   <source>Threshold</source>
   <translation>Schwelle</translation>
  </message>
  <message>
   <source>Tile</source>
   <translation>Kachel</translation>
  </message>
  <message>
   <source>Tones may differ a little from the whole picture's. A smaller one needs none.</source>
   <translation>Farbtöne können ein wenig vom ganzen Bild abweichen. Ein kleineres braucht keine.</translation>
  </message>
  <message>
   <source>Try again later.</source>
   <translation>Später erneut versuchen.</translation>
  </message>
  <message>
   <source>Try again later; its page, or a newer version of Safelight, may know another address.</source>
   <translation>Später erneut versuchen; die Seite oder eine neuere Version von Safelight kennt vielleicht eine andere Adresse.</translation>
  </message>
  <message>
   <source>Try again later; what has arrived is kept.</source>
   <translation>Später erneut versuchen; was angekommen ist, bleibt erhalten.</translation>
  </message>
  <message>
   <source>Try again; if it happens again, please report it with the details.</source>
   <translation>Noch einmal versuchen; geschieht es wieder, bitte mit den Einzelheiten melden.</translation>
  </message>
  <message>
   <source>Turn FreeU off.</source>
   <translation>Schalten Sie FreeU aus.</translation>
  </message>
  <message>
   <source>Turn off perturbed-attention and self-attention guidance.</source>
   <translation>Schalten Sie die Führung durch gestörte Aufmerksamkeit und durch Selbstaufmerksamkeit aus.</translation>
  </message>
  <message>
   <source>Turn off the other control layers.</source>
   <translation>Schalten Sie die anderen Steuerebenen aus.</translation>
  </message>
  <message>
   <source>Turn off the other references.</source>
   <translation>Schalten Sie die anderen Referenzen aus.</translation>
  </message>
  <message>
   <source>Turn one of the two off.</source>
   <translation>Schalten Sie eines von beiden aus.</translation>
  </message>
  <message>
   <source>Type it anew.</source>
   <translation>Neu eingeben.</translation>
  </message>
  <message>
   <source>UNet of widths {widths} with {kind} projections, {channels} channels in, context {context} wide</source>
   <translation>UNet mit den Breiten {widths} und Projektionen ({kind}), {channels} Kanäle am Eingang, Kontext {context} breit</translation>
  </message>
  <message>
   <source>Unpack it, and choose the model that is in it.</source>
   <translation>Entpacken und das Modell darin wählen.</translation>
  </message>
  <message>
   <source>Unset it; there are: {known}.</source>
   <translation>Die Variable entfernen; es gibt: {known}.</translation>
  </message>
  <message>
   <source>Until the next start LoRAs act there in another way, which may take longer.</source>
   <translation>Bis zum nächsten Start wirken LoRAs dort auf andere Weise, was länger dauern kann.</translation>
  </message>
  <message>
   <source>Update the sources, or use an installed Safelight.</source>
   <translation>Die Quellen aktualisieren oder ein installiertes Safelight verwenden.</translation>
  </message>
  <message>
   <source>Use another copy of the model, such as a .safetensors file.</source>
   <translation>Eine andere Kopie des Modells verwenden, etwa eine .safetensors-Datei.</translation>
  </message>
  <message>
   <source>Use another version of the model.</source>
   <translation>Eine andere Version des Modells verwenden.</translation>
  </message>
  <message>
   <source>Use the diffusers folder it came from, with its tokenizer.</source>
   <translation>Den diffusers-Ordner verwenden, aus dem es stammt, mit dem Tokenizer darin.</translation>
  </message>
  <message>
   <source>Use the model without it, and its adapter's own file for an image prompt.</source>
   <translation>Nutzen Sie das Modell ohne ihn, und für einen Bild-Prompt die eigene Datei des Adapters.</translation>
  </message>
  <message>
   <source>Use the same model as a .safetensors file, or the LoRA beside the model.</source>
   <translation>Verwenden Sie dasselbe Modell als .safetensors-Datei, oder die LoRA neben dem Modell.</translation>
  </message>
  <message>
   <source>Use the same model in 16 bits, or the LoRA beside the model.</source>
   <translation>Nehmen Sie dasselbe Modell in 16 Bit oder die LoRA neben dem Modell.</translation>
  </message>
  <message>
   <source>Use the strength to say how much of it is redrawn.</source>
   <translation>Mit der Stärke angeben, wie viel davon neu gezeichnet wird.</translation>
  </message>
  <message>
   <source>VAE fit for float16 because {why}</source>
   <translation>VAE rechnet in float16, denn {why}</translation>
  </message>
  <message>
   <source>VAE of widths {widths} with a decoder of {others}, {channels} latent channels</source>
   <translation>VAE mit den Breiten {widths} und einem Decoder mit {others}, {channels} latente Kanäle</translation>
  </message>
  <message>
   <source>VAE of widths {widths}, {channels} latent channels</source>
   <translation>VAE mit den Breiten {widths}, {channels} latente Kanäle</translation>
  </message>
  <message>
   <source>Version {version} could not be run, so {used} is used again.</source>
   <translation>Version {version} ließ sich nicht ausführen, deshalb wird wieder {used} verwendet.</translation>
  </message>
  <message>
   <source>Version {version} did not start, so {used} is used again.</source>
   <translation>Version {version} ist nicht gestartet, deshalb wird wieder {used} verwendet.</translation>
  </message>
  <message>
   <source>Version {version} does not run on this computer.</source>
   <translation>Version {version} läuft auf diesem Computer nicht.</translation>
  </message>
  <message>
   <source>Wait until it has finished, then try again.</source>
   <translation>Warten, bis es fertig ist, dann noch einmal versuchen.</translation>
  </message>
  <message>
   <source>Wait until it is done, then try again.</source>
   <translation>Warten, bis es fertig ist, dann erneut versuchen.</translation>
  </message>
  <message>
   <source>WebGPU's provider takes {name} and no other</source>
   <translation>WebGPU nimmt {name} und keinen anderen</translation>
  </message>
  <message>
   <source>Weight, steps and balance of its control layer have no effect.</source>
   <translation>Gewicht, Schritte und Gleichgewicht seiner Steuerebene haben keine Wirkung.</translation>
  </message>
  <message>
   <source>What is in the window cannot be kept for the next start.</source>
   <translation>Was im Fenster steht, kann nicht für den nächsten Start aufbewahrt werden.</translation>
  </message>
  <message>
   <source>What was in the window the last time cannot be read; it begins anew.</source>
   <translation>Was zuletzt im Fenster war, ist nicht lesbar; es beginnt neu.</translation>
  </message>
  <message>
   <source>What was in the window was left by a newer version of Safelight; this one begins anew.</source>
   <translation>Was im Fenster war, stammt von einer neueren Version von Safelight; diese beginnt neu.</translation>
  </message>
  <message>
   <source>What was kept of the Gallery's view cannot be read; it is as at first.</source>
   <translation>Die gespeicherte Ansicht der Galerie ist nicht lesbar; sie ist wie am Anfang.</translation>
  </message>
  <message>
   <source>What you said of models cannot be read; they are taken for what their files say.</source>
   <translation>Ihre Angaben zu Modellen sind nicht lesbar; es gilt, was ihre Dateien sagen.</translation>
  </message>
  <message>
   <source>White is painted and black is kept.</source>
   <translation>Weiß wird gemalt, Schwarz bleibt.</translation>
  </message>
  <message>
   <source>White lines as an artist would draw a photograph.</source>
   <translation>Weiße Linien, wie man ein Foto abzeichnen würde.</translation>
  </message>
  <message>
   <source>White lines of a drawing that is dark on white.</source>
   <translation>Weiße Linien einer Zeichnung, die dunkel auf Weiß ist.</translation>
  </message>
  <message>
   <source>White where a picture is bright, black elsewhere.</source>
   <translation>Weiß, wo das Bild hell ist, sonst schwarz.</translation>
  </message>
  <message>
   <source>Windows ML is a part of Windows</source>
   <translation>Windows ML ist ein Teil von Windows</translation>
  </message>
  <message>
   <source>Windows ML offers no {name} for this computer</source>
   <translation>Windows ML bietet {name} für diesen Computer nicht an</translation>
  </message>
  <message>
   <source>Windows ML offers {name} and has not downloaded it: ensure_ready() of its catalog does</source>
   <translation>Windows ML bietet {name} an und hat es nicht heruntergeladen: ensure_ready() seines Katalogs tut das</translation>
  </message>
  <message>
   <source>Windows ML's catalog does not answer: {reason}</source>
   <translation>der Katalog von Windows ML antwortet nicht: {reason}</translation>
  </message>
  <message>
   <source>Windows draws it in software</source>
   <translation>Windows zeichnet es in Software</translation>
  </message>
  <message>
   <source>Windows lists no graphics processor</source>
   <translation>Windows führt keinen Grafikprozessor auf</translation>
  </message>
  <message>
   <source>Windows, or a virus scanner, keeps one of its files from being used; whoever administers this computer can allow it.</source>
   <translation>Windows oder ein Virenscanner verhindert, dass eine seiner Dateien verwendet wird; wer diesen Computer verwaltet, kann sie erlauben.</translation>
  </message>
  <message>
   <source>With these LoRAs the weight {weight} has values that are no number, or too large for {dtype}.</source>
   <translation>Mit diesen LoRAs hat das Gewicht {weight} Werte, die keine Zahl oder zu groß für {dtype} sind.</translation>
  </message>
  <message>
   <source>With weights in {bits} bits it needs about {peak_bytes:.2f} GB.</source>
   <translation>Mit Gewichten in {bits} Bit braucht es etwa {peak_bytes:.2f} GB.</translation>
  </message>
  <message>
   <source>Working copies of the weights take {size:.1f} GB; there is room for {free:.1f} GB in {folder}.</source>
   <translation>Arbeitskopien der Gewichte brauchen {size:.1f} GB; in {folder} ist Platz für {free:.1f} GB.</translation>
  </message>
  <message>
   <source>Write a number here.</source>
   <translation>Hier eine Zahl schreiben.</translation>
  </message>
  <message>
   <source>Write another name, or add a text file of that name to the folder of wildcards.</source>
   <translation>Einen anderen Namen schreiben oder eine Textdatei dieses Namens in den Ordner der Platzhalter legen.</translation>
  </message>
  <message>
   <source>Write the whole path; of a file that is called so, begin it with ./</source>
   <translation>Den ganzen Pfad schreiben; bei einer Datei, die so heißt, mit ./ beginnen.</translation>
  </message>
  <message>
   <source>Write {{a|b}} for one of several words, and __name__ for a line of a list.</source>
   <translation>{{a|b}} für eines von mehreren Wörtern schreiben und __name__ für eine Zeile einer Liste.</translation>
  </message>
  <message>
   <source>Your earlier prompts cannot be kept.</source>
   <translation>Ihre früheren Prompts können nicht aufbewahrt werden.</translation>
  </message>
  <message>
   <source>Your earlier prompts cannot be read; their list begins anew.</source>
   <translation>Ihre früheren Prompts sind nicht lesbar; ihre Liste beginnt neu.</translation>
  </message>
  <message>
   <source>Your earlier prompts were left by a newer version of Safelight; their list begins anew.</source>
   <translation>Ihre früheren Prompts stammen von einer neueren Version von Safelight; ihre Liste beginnt neu.</translation>
  </message>
  <message>
   <source>Your keys for Civitai and Hugging Face cannot be read.</source>
   <translation>Ihre Schlüssel für Civitai und Hugging Face sind nicht lesbar.</translation>
  </message>
  <message>
   <source>Your notes on models cannot be read.</source>
   <translation>Ihre Notizen zu Modellen sind nicht lesbar.</translation>
  </message>
  <message>
   <source>Your presets cannot be kept.</source>
   <translation>Ihre Vorlagen können nicht aufbewahrt werden.</translation>
  </message>
  <message>
   <source>Your presets cannot be read; the list begins anew.</source>
   <translation>Ihre Vorlagen sind nicht lesbar; die Liste beginnt neu.</translation>
  </message>
  <message>
   <source>Your presets were left by a newer version of Safelight; the list begins anew.</source>
   <translation>Ihre Vorlagen stammen von einer neueren Version von Safelight; die Liste beginnt neu.</translation>
  </message>
  <message>
   <source>Zero terminal SNR stretches timesteps, and this model was trained without them.</source>
   <translation>Zero Terminal SNR streckt Zeitschritte, und dieses Modell wurde ohne sie trainiert.</translation>
  </message>
  <message>
   <source>`safelight cache` lists what it holds.</source>
   <translation>`safelight cache` zeigt, was er enthält.</translation>
  </message>
  <message>
   <source>a ControlNet</source>
   <translation>ein ControlNet</translation>
  </message>
  <message>
   <source>a ControlNet for several kinds of maps</source>
   <translation>ein ControlNet für mehrere Arten von Karten</translation>
  </message>
  <message>
   <source>a ControlNet-LLLite</source>
   <translation>ein ControlNet-LLLite</translation>
  </message>
  <message>
   <source>a GGUF file</source>
   <translation>eine GGUF-Datei</translation>
  </message>
  <message>
   <source>a Git LFS pointer, not the file itself</source>
   <translation>ein Verweis von Git LFS, nicht die Datei selbst</translation>
  </message>
  <message>
   <source>a JSON file</source>
   <translation>eine JSON-Datei</translation>
  </message>
  <message>
   <source>a LoRA</source>
   <translation>eine LoRA</translation>
  </message>
  <message>
   <source>a LoRA for an unknown kind of model</source>
   <translation>eine LoRA für eine unbekannte Art von Modell</translation>
  </message>
  <message>
   <source>a LoRA for {family}</source>
   <translation>eine LoRA für {family}</translation>
  </message>
  <message>
   <source>a LyCORIS LoRA</source>
   <translation>ein LyCORIS-LoRA</translation>
  </message>
  <message>
   <source>a T2I style adapter</source>
   <translation>ein T2I-Stiladapter</translation>
  </message>
  <message>
   <source>a T2I-Adapter</source>
   <translation>ein T2I-Adapter</translation>
  </message>
  <message>
   <source>a VAE</source>
   <translation>ein VAE</translation>
  </message>
  <message>
   <source>a blend holds a swap or nothing</source>
   <translation>ein Blend enthält einen Tausch oder nichts</translation>
  </message>
  <message>
   <source>a checkpoint of {family}</source>
   <translation>ein Checkpoint von {family}</translation>
  </message>
  <message>
   <source>a colouriser ({name})</source>
   <translation>ein Kolorierer ({name})</translation>
  </message>
  <message>
   <source>a consistency decoder</source>
   <translation>ein Consistency-Decoder</translation>
  </message>
  <message>
   <source>a control-LoRA</source>
   <translation>ein Control-LoRA</translation>
  </message>
  <message>
   <source>a control-LoRA, which is a ControlNet</source>
   <translation>ein Control-LoRA, also ein ControlNet</translation>
  </message>
  <message>
   <source>a depth estimator</source>
   <translation>ein Tiefenschätzer</translation>
  </message>
  <message>
   <source>a detector ({name})</source>
   <translation>ein Detektor ({name})</translation>
  </message>
  <message>
   <source>a diffusion model without text ({name})</source>
   <translation>ein Diffusionsmodell ohne Text ({name})</translation>
  </message>
  <message>
   <source>a face restorer ({name})</source>
   <translation>ein Gesichtsrestaurierer ({name})</translation>
  </message>
  <message>
   <source>a fact</source>
   <translation>einer Angabe</translation>
  </message>
  <message>
   <source>a field ends beyond its message</source>
   <translation>ein Feld endet hinter seiner Nachricht</translation>
  </message>
  <message>
   <source>a field is larger than any model's</source>
   <translation>ein Feld ist größer als das irgendeines Modells</translation>
  </message>
  <message>
   <source>a file of weights that this version does not know</source>
   <translation>eine Datei mit Gewichten, die diese Version nicht kennt</translation>
  </message>
  <message>
   <source>a hypernetwork</source>
   <translation>ein Hypernetzwerk</translation>
  </message>
  <message>
   <source>a language model</source>
   <translation>ein Sprachmodell</translation>
  </message>
  <message>
   <source>a latent consistency model: key {key}</source>
   <translation>ein Latent-Consistency-Modell: Schlüssel {key}</translation>
  </message>
  <message>
   <source>a latent upscaler ({name})</source>
   <translation>ein Latent-Upscaler ({name})</translation>
  </message>
  <message>
   <source>a name is no text</source>
   <translation>ein Name ist kein Text</translation>
  </message>
  <message>
   <source>a number does not end</source>
   <translation>eine Zahl endet nicht</translation>
  </message>
  <message>
   <source>a number is of the wrong type</source>
   <translation>eine Zahl ist von der falschen Art</translation>
  </message>
  <message>
   <source>a packed archive (7z)</source>
   <translation>ein gepacktes Archiv (7z)</translation>
  </message>
  <message>
   <source>a packed archive (RAR)</source>
   <translation>ein gepacktes Archiv (RAR)</translation>
  </message>
  <message>
   <source>a packed archive (gzip)</source>
   <translation>ein gepacktes Archiv (gzip)</translation>
  </message>
  <message>
   <source>a packed archive (xz)</source>
   <translation>ein gepacktes Archiv (xz)</translation>
  </message>
  <message>
   <source>a pickle, but no checkpoint of PyTorch's</source>
   <translation>ein Pickle, aber kein Checkpoint von PyTorch</translation>
  </message>
  <message>
   <source>a picture</source>
   <translation>ein Bild</translation>
  </message>
  <message>
   <source>a picture restorer</source>
   <translation>ein Bildrestaurierer</translation>
  </message>
  <message>
   <source>a prior of {name}</source>
   <translation>ein Prior von {name}</translation>
  </message>
  <message>
   <source>a representation autoencoder (RAE)</source>
   <translation>ein Repräsentations-Autoencoder (RAE)</translation>
  </message>
  <message>
   <source>a safety checker</source>
   <translation>ein Sicherheitsfilter</translation>
  </message>
  <message>
   <source>a segmentation model ({name})</source>
   <translation>ein Segmentierungsmodell ({name})</translation>
  </message>
  <message>
   <source>a sum of {width} wide</source>
   <translation>eine Summe der Breite {width}</translation>
  </message>
  <message>
   <source>a tensor</source>
   <translation>eines Tensors</translation>
  </message>
  <message>
   <source>a tensor has the shape {list}</source>
   <translation>ein Tensor hat die Form {list}</translation>
  </message>
  <message>
   <source>a text-to-video model ({name})</source>
   <translation>ein Text-zu-Video-Modell ({name})</translation>
  </message>
  <message>
   <source>a textual inversion embedding</source>
   <translation>ein Textual-Inversion-Embedding</translation>
  </message>
  <message>
   <source>a tiny VAE ({name})</source>
   <translation>ein winziger VAE ({name})</translation>
  </message>
  <message>
   <source>a video VAE</source>
   <translation>ein Video-VAE</translation>
  </message>
  <message>
   <source>a vocoder</source>
   <translation>ein Vocoder</translation>
  </message>
  <message>
   <source>a web page saved under this name</source>
   <translation>eine Webseite, die unter diesem Namen gespeichert ist</translation>
  </message>
  <message>
   <source>a {name}</source>
   <translation>ein {name}</translation>
  </message>
  <message>
   <source>a {name} VAE</source>
   <translation>ein {name}-VAE</translation>
  </message>
  <message>
   <source>a {name} adapter</source>
   <translation>ein {name}-Adapter</translation>
  </message>
  <message>
   <source>a {name} autoencoder</source>
   <translation>ein {name}-Autoencoder</translation>
  </message>
  <message>
   <source>a {name} model</source>
   <translation>ein {name}-Modell</translation>
  </message>
  <message>
   <source>a {name} text encoder</source>
   <translation>ein {name}-Textencoder</translation>
  </message>
  <message>
   <source>a {name} vision encoder</source>
   <translation>ein {name}-Bildencoder</translation>
  </message>
  <message>
   <source>about as fast as {other} here</source>
   <translation>hier etwa so schnell wie {other}</translation>
  </message>
  <message>
   <source>aesthetic score</source>
   <translation>Ästhetikwert</translation>
  </message>
  <message>
   <source>all of its family are trained so</source>
   <translation>alle seiner Familie so trainiert sind</translation>
  </message>
  <message>
   <source>an AnimateDiff motion module</source>
   <translation>ein AnimateDiff-Bewegungsmodul</translation>
  </message>
  <message>
   <source>an IP-Adapter</source>
   <translation>ein IP-Adapter</translation>
  </message>
  <message>
   <source>an IP-Adapter Plus</source>
   <translation>ein IP-Adapter Plus</translation>
  </message>
  <message>
   <source>an IP-Adapter full face</source>
   <translation>ein IP-Adapter Full Face</translation>
  </message>
  <message>
   <source>an XML reply from a server saved under this name</source>
   <translation>die XML-Antwort eines Servers, die unter diesem Namen gespeichert ist</translation>
  </message>
  <message>
   <source>an asymmetric VAE</source>
   <translation>ein asymmetrischer VAE</translation>
  </message>
  <message>
   <source>an attribute is damaged</source>
   <translation>ein Attribut ist beschädigt</translation>
  </message>
  <message>
   <source>an audio autoencoder</source>
   <translation>ein Audio-Autoencoder</translation>
  </message>
  <message>
   <source>an audio encoder</source>
   <translation>ein Audio-Encoder</translation>
  </message>
  <message>
   <source>an estimator of depth or normals ({name})</source>
   <translation>ein Schätzer für Tiefe oder Normalen ({name})</translation>
  </message>
  <message>
   <source>an image projector</source>
   <translation>ein Bildprojektor</translation>
  </message>
  <message>
   <source>an inpainting network ({name})</source>
   <translation>ein Inpainting-Netz ({name})</translation>
  </message>
  <message>
   <source>an input or output is damaged</source>
   <translation>ein Eingang oder Ausgang ist beschädigt</translation>
  </message>
  <message>
   <source>an output is not computed</source>
   <translation>ein Ausgang wird nicht berechnet</translation>
  </message>
  <message>
   <source>an upscaler</source>
   <translation>ein Upscaler</translation>
  </message>
  <message>
   <source>an {name}</source>
   <translation>ein {name}</translation>
  </message>
  <message>
   <source>an {name} VAE</source>
   <translation>ein {name}-VAE</translation>
  </message>
  <message>
   <source>an {name} model</source>
   <translation>ein {name}-Modell</translation>
  </message>
  <message>
   <source>another kind of model</source>
   <translation>eine andere Art von Modell</translation>
  </message>
  <message>
   <source>asked for</source>
   <translation>so verlangt</translation>
  </message>
  <message>
   <source>background</source>
   <translation>Hintergrund</translation>
  </message>
  <message>
   <source>batch index</source>
   <translation>Nummer im Stapel</translation>
  </message>
  <message>
   <source>batch size</source>
   <translation>Stapelgröße</translation>
  </message>
  <message>
   <source>blur of the mask</source>
   <translation>Weichzeichnung der Maske</translation>
  </message>
  <message>
   <source>churn</source>
   <translation>Churn</translation>
  </message>
  <message>
   <source>churn_from</source>
   <translation>Churn ab</translation>
  </message>
  <message>
   <source>churn_to</source>
   <translation>Churn bis</translation>
  </message>
  <message>
   <source>clip skip</source>
   <translation>Clip Skip</translation>
  </message>
  <message>
   <source>convolutional</source>
   <translation>Faltung</translation>
  </message>
  <message>
   <source>count</source>
   <translation>Anzahl</translation>
  </message>
  <message>
   <source>crashed inside native code</source>
   <translation>ist in nativem Code abgestürzt</translation>
  </message>
  <message>
   <source>denoiser (UNet)</source>
   <translation>Entrauscher (UNet)</translation>
  </message>
  <message>
   <source>denoiser (transformer)</source>
   <translation>Denoiser (Transformer)</translation>
  </message>
  <message>
   <source>depth</source>
   <translation>Tiefe</translation>
  </message>
  <message>
   <source>developing it</source>
   <translation>es entwickelt wurde</translation>
  </message>
  <message>
   <source>device memory limit</source>
   <translation>Grenze des Gerätespeichers</translation>
  </message>
  <message>
   <source>divided by zero inside native code</source>
   <translation>hat in nativem Code durch null geteilt</translation>
  </message>
  <message>
   <source>does not begin where the one before it ends</source>
   <translation>beginnt nicht dort, wo der vorige endet</translation>
  </message>
  <message>
   <source>down-sampling rate</source>
   <translation>Verkleinerung</translation>
  </message>
  <message>
   <source>driver {version} is too old: {name} needs {least} or newer</source>
   <translation>Treiber {version} ist zu alt: {name} braucht {least} oder neuer</translation>
  </message>
  <message>
   <source>end of FreeU</source>
   <translation>Ende von FreeU</translation>
  </message>
  <message>
   <source>end of PAG</source>
   <translation>Ende von PAG</translation>
  </message>
  <message>
   <source>end of guidance</source>
   <translation>Ende der Guidance</translation>
  </message>
  <message>
   <source>end of range of a control layer</source>
   <translation>Ende des Bereichs einer Kontrollebene</translation>
  </message>
  <message>
   <source>end of range of an image prompt</source>
   <translation>Ende des Bereichs eines Bildprompts</translation>
  </message>
  <message>
   <source>ended unexpectedly</source>
   <translation>hat sich unerwartet beendet</translation>
  </message>
  <message>
   <source>enlarging it</source>
   <translation>es vergrößert wurde</translation>
  </message>
  <message>
   <source>eta</source>
   <translation>Eta</translation>
  </message>
  <message>
   <source>eta seed delta</source>
   <translation>Eta-Seed-Delta (ENSD)</translation>
  </message>
  <message>
   <source>exists already</source>
   <translation>gibt es schon</translation>
  </message>
  <message>
   <source>factor of a second pass</source>
   <translation>Faktor eines zweiten Durchgangs</translation>
  </message>
  <message>
   <source>facts</source>
   <translation>Angaben</translation>
  </message>
  <message>
   <source>feather</source>
   <translation>Weichzeichnen</translation>
  </message>
  <message>
   <source>finishing it</source>
   <translation>es fertiggestellt wurde</translation>
  </message>
  <message>
   <source>flow matching</source>
   <translation>Flow Matching</translation>
  </message>
  <message>
   <source>for pictures of {channels} channels</source>
   <translation>für Bilder mit {channels} Kanälen</translation>
  </message>
  <message>
   <source>for pictures {now} times the latent's size</source>
   <translation>für Bilder mit {now}-facher Größe des Latents</translation>
  </message>
  <message>
   <source>for {channels} latent channels</source>
   <translation>für {channels} Latent-Kanäle</translation>
  </message>
  <message>
   <source>gamma</source>
   <translation>Gamma</translation>
  </message>
  <message>
   <source>guidance</source>
   <translation>Guidance</translation>
  </message>
  <message>
   <source>guidance of a second pass</source>
   <translation>Führung eines zweiten Durchgangs</translation>
  </message>
  <message>
   <source>guidance rescale</source>
   <translation>Reskalierung der Guidance</translation>
  </message>
  <message>
   <source>height</source>
   <translation>Höhe</translation>
  </message>
  <message>
   <source>height of a second pass</source>
   <translation>Höhe eines zweiten Durchgangs</translation>
  </message>
  <message>
   <source>high threshold</source>
   <translation>obere Schwelle</translation>
  </message>
  <message>
   <source>image guidance</source>
   <translation>Bild-Guidance</translation>
  </message>
  <message>
   <source>in the set of elements {name!r}, {problem}</source>
   <translation>im Elementsatz {name!r}: {problem}</translation>
  </message>
  <message>
   <source>is what the new model is made of</source>
   <translation>ist das, woraus das neue Modell entsteht</translation>
  </message>
  <message>
   <source>it became shorter while it was read</source>
   <translation>sie wurde beim Lesen kürzer</translation>
  </message>
  <message>
   <source>it brings an ONNX Runtime, and so does {name}</source>
   <translation>es bringt eine ONNX Runtime mit, {name} ebenfalls</translation>
  </message>
  <message>
   <source>it cannot be opened</source>
   <translation>es kann nicht geöffnet werden</translation>
  </message>
  <message>
   <source>it claims more than {millions} million pixels</source>
   <translation>es hat nach eigener Angabe mehr als {millions} Millionen Bildpunkte</translation>
  </message>
  <message>
   <source>it does not find joints</source>
   <translation>sie findet keine Gelenke</translation>
  </message>
  <message>
   <source>it does not find people</source>
   <translation>sie findet keine Menschen</translation>
  </message>
  <message>
   <source>it does not take a picture</source>
   <translation>sie nimmt kein Bild an</translation>
  </message>
  <message>
   <source>it ends too early</source>
   <translation>sie endet zu früh</translation>
  </message>
  <message>
   <source>it failed: {reason}</source>
   <translation>es hat versagt: {reason}</translation>
  </message>
  <message>
   <source>it has a field of no known type</source>
   <translation>sie hat ein Feld von unbekannter Art</translation>
  </message>
  <message>
   <source>it has far more entries than any model</source>
   <translation>sie hat weit mehr Einträge als irgendein Modell</translation>
  </message>
  <message>
   <source>it has half of the change of {name!r}</source>
   <translation>sie hat nur die Hälfte der Änderung von {name!r}</translation>
  </message>
  <message>
   <source>it has more constants than any model</source>
   <translation>sie hat mehr Konstanten als irgendein Modell</translation>
  </message>
  <message>
   <source>it has no Metal driver</source>
   <translation>es hat keinen Metal-Treiber</translation>
  </message>
  <message>
   <source>it has no UNet for pictures</source>
   <translation>sie enthält kein UNet für Bilder</translation>
  </message>
  <message>
   <source>it has no decoder</source>
   <translation>sie hat keinen Decoder</translation>
  </message>
  <message>
   <source>it has no first layer of a tiny VAE</source>
   <translation>ihr fehlt die erste Schicht einer kleinen VAE</translation>
  </message>
  <message>
   <source>it has no inputs, or more than any model</source>
   <translation>sie hat keine Eingänge oder mehr als irgendein Modell</translation>
  </message>
  <message>
   <source>it has no operators</source>
   <translation>sie hat keine Operatoren</translation>
  </message>
  <message>
   <source>it has no transformer of {family}</source>
   <translation>es hat keinen Transformer von {family}</translation>
  </message>
  <message>
   <source>it has no {name}</source>
   <translation>{name} fehlt ihm</translation>
  </message>
  <message>
   <source>it has none</source>
   <translation>sie hat keinen</translation>
  </message>
  <message>
   <source>it has several graphs</source>
   <translation>sie hat mehrere Graphen</translation>
  </message>
  <message>
   <source>it has too many files</source>
   <translation>es hat zu viele Dateien</translation>
  </message>
  <message>
   <source>it has {count} layers</source>
   <translation>er hat {count} Schichten</translation>
  </message>
  <message>
   <source>it has {count} layers that enlarge</source>
   <translation>er hat {count} Schichten, die vergrößern</translation>
  </message>
  <message>
   <source>it has {count} metadata entries</source>
   <translation>sie hat {count} Einträge an Metadaten</translation>
  </message>
  <message>
   <source>it holds no vectors</source>
   <translation>sie enthält keine Vektoren</translation>
  </message>
  <message>
   <source>it holds vectors of {count} widths</source>
   <translation>sie enthält Vektoren von {count} verschiedenen Breiten</translation>
  </message>
  <message>
   <source>it holds {count:,} weights of networks</source>
   <translation>sie enthält {count:,} Gewichte von Netzen</translation>
  </message>
  <message>
   <source>it holds {name!r} of the {labels} twice</source>
   <translation>sie enthält {name!r} zweimal ({labels})</translation>
  </message>
  <message>
   <source>it holds {name!r} of the {label} under two names</source>
   <translation>sie enthält {name!r} unter zwei Namen ({label})</translation>
  </message>
  <message>
   <source>it holds {name!r} under two names</source>
   <translation>sie enthält {name!r} unter zwei Namen</translation>
  </message>
  <message>
   <source>it holds {name!r}, which no tiny VAE has</source>
   <translation>sie enthält {name!r}, was keine kleine VAE hat</translation>
  </message>
  <message>
   <source>it holds {name} under two names</source>
   <translation>sie enthält {name} unter zwei Namen</translation>
  </message>
  <message>
   <source>it is a device</source>
   <translation>es ist ein Gerät</translation>
  </message>
  <message>
   <source>it is a display without a graphics processor</source>
   <translation>es ist eine Anzeige ohne Grafikprozessor</translation>
  </message>
  <message>
   <source>it is a folder</source>
   <translation>es ist ein Ordner</translation>
  </message>
  <message>
   <source>it is a pipe</source>
   <translation>es ist eine Pipe</translation>
  </message>
  <message>
   <source>it is a socket</source>
   <translation>es ist ein Socket</translation>
  </message>
  <message>
   <source>it is damaged</source>
   <translation>es ist beschädigt</translation>
  </message>
  <message>
   <source>it is damaged or incomplete ({detail})</source>
   <translation>die Datei ist beschädigt oder unvollständig ({detail})</translation>
  </message>
  <message>
   <source>it is drawn in software; no driver of a graphics processor is at work</source>
   <translation>es wird in Software gezeichnet; kein Treiber eines Grafikprozessors ist aktiv</translation>
  </message>
  <message>
   <source>it is empty</source>
   <translation>die Datei ist leer</translation>
  </message>
  <message>
   <source>it is for pictures of {count} channels</source>
   <translation>er ist für Bilder mit {count} Kanälen</translation>
  </message>
  <message>
   <source>it is longer than 1 MB</source>
   <translation>sie ist länger als 1 MB</translation>
  </message>
  <message>
   <source>it is made for Python {wanted}, and this is {present}</source>
   <translation>es ist für Python {wanted} gemacht, und dies ist {present}</translation>
  </message>
  <message>
   <source>it is made for another system</source>
   <translation>es ist für ein anderes System gemacht</translation>
  </message>
  <message>
   <source>it is no ONNX file</source>
   <translation>sie ist keine ONNX-Datei</translation>
  </message>
  <message>
   <source>it is no PNG, JPEG or WebP file</source>
   <translation>es ist keine PNG-, JPEG- oder WebP-Datei</translation>
  </message>
  <message>
   <source>it is no PNG, JPEG or WebP file, or its beginning is damaged</source>
   <translation>es ist keine PNG-, JPEG- oder WebP-Datei, oder ihr Anfang ist beschädigt</translation>
  </message>
  <message>
   <source>it is not there</source>
   <translation>die Datei ist nicht da</translation>
  </message>
  <message>
   <source>it is of the family {title}</source>
   <translation>sie gehört zur Familie {title}</translation>
  </message>
  <message>
   <source>it is of version {version} of GGUF</source>
   <translation>sie hat die GGUF-Version {version}</translation>
  </message>
  <message>
   <source>it is off by {share}</source>
   <translation>es liegt um {share} daneben</translation>
  </message>
  <message>
   <source>it is set aside for a virtual machine ({driver})</source>
   <translation>es ist für eine virtuelle Maschine reserviert ({driver})</translation>
  </message>
  <message>
   <source>it is the display of a server's management controller, not a graphics processor</source>
   <translation>es ist die Anzeige des Verwaltungschips eines Servers, kein Grafikprozessor</translation>
  </message>
  <message>
   <source>it is the display of a virtual machine, not a graphics processor</source>
   <translation>es ist die Anzeige einer virtuellen Maschine, kein Grafikprozessor</translation>
  </message>
  <message>
   <source>it is {title}</source>
   <translation>sie ist {title}</translation>
  </message>
  <message>
   <source>it lacks 'mid_block.resnets.1.conv1.weight'</source>
   <translation>es fehlt 'mid_block.resnets.1.conv1.weight'</translation>
  </message>
  <message>
   <source>it lacks {name!r}</source>
   <translation>es fehlt {name!r}</translation>
  </message>
  <message>
   <source>it lacks {prefix!r}</source>
   <translation>es fehlt {prefix!r}</translation>
  </message>
  <message>
   <source>it lacks {value!r}</source>
   <translation>es fehlt {value!r}</translation>
  </message>
  <message>
   <source>it lists more texts than any model</source>
   <translation>sie führt mehr Texte auf als jedes Modell</translation>
  </message>
  <message>
   <source>it lists {count} tensors, over the limit of {max_tensors}</source>
   <translation>sie zählt {count} Tensoren auf, mehr als die Grenze von {max_tensors}</translation>
  </message>
  <message>
   <source>it lists {count} {what}, over the limit of {most}</source>
   <translation>sie führt {count} {what} auf, mehr als die erlaubten {most}</translation>
  </message>
  <message>
   <source>it lists {name} twice</source>
   <translation>sie führt {name} zweimal auf</translation>
  </message>
  <message>
   <source>it names more than {most} LoRAs</source>
   <translation>er nennt mehr als {most} LoRAs</translation>
  </message>
  <message>
   <source>it needs a mask or a picture beside the latent</source>
   <translation>es braucht eine Maske oder ein Bild neben dem Latent</translation>
  </message>
  <message>
   <source>it printed nothing</source>
   <translation>er hat nichts ausgegeben</translation>
  </message>
  <message>
   <source>it samples at {places} places</source>
   <translation>er tastet an {places} Stellen ab</translation>
  </message>
  <message>
   <source>it stands for the GPUs of the Windows host; only NVIDIA's driver reaches them</source>
   <translation>es steht für die GPUs des Windows-Rechners; nur der Treiber von NVIDIA erreicht sie</translation>
  </message>
  <message>
   <source>it takes {count} numbers of a map</source>
   <translation>es nimmt {count} Zahlen einer Karte</translation>
  </message>
  <message>
   <source>it unpacks to more than its list says</source>
   <translation>es entpackt sich zu mehr, als seine Liste sagt</translation>
  </message>
  <message>
   <source>its UNet is not told the picture's size</source>
   <translation>ihr UNet erfährt die Bildgröße nicht</translation>
  </message>
  <message>
   <source>its UNet is told the picture's size</source>
   <translation>ihr UNet erfährt die Bildgröße</translation>
  </message>
  <message>
   <source>its UNet projects by convolution</source>
   <translation>ihr UNet projiziert durch Faltung</translation>
  </message>
  <message>
   <source>its UNet projects by linear layers</source>
   <translation>ihr UNet projiziert durch lineare Schichten</translation>
  </message>
  <message>
   <source>its configuration says {words}</source>
   <translation>seine Konfiguration sagt {words}</translation>
  </message>
  <message>
   <source>its driver has no OpenCL for OpenVINO: install Intel's current graphics driver</source>
   <translation>sein Treiber hat kein OpenCL für OpenVINO: den aktuellen Grafiktreiber von Intel installieren</translation>
  </message>
  <message>
   <source>its driver is {driver}; NVIDIA's own is needed</source>
   <translation>sein Treiber ist {driver}; nötig ist der von NVIDIA</translation>
  </message>
  <message>
   <source>its file {name} has another size</source>
   <translation>seine Datei {name} hat eine andere Größe</translation>
  </message>
  <message>
   <source>its file {name} is missing</source>
   <translation>seine Datei {name} fehlt</translation>
  </message>
  <message>
   <source>its files are not those of a CLIP tokenizer</source>
   <translation>seine Dateien sind nicht die eines CLIP-Tokenizers</translation>
  </message>
  <message>
   <source>its first layer has {inner} channels</source>
   <translation>seine erste Schicht hat {inner} Kanäle</translation>
  </message>
  <message>
   <source>its first layer takes {inner} channels</source>
   <translation>ihre erste Schicht nimmt {inner} Kanäle</translation>
  </message>
  <message>
   <source>its folder is missing</source>
   <translation>sein Ordner fehlt</translation>
  </message>
  <message>
   <source>its header claims {length} bytes, over the limit of 16 MB</source>
   <translation>ihr Kopf gibt {length} Bytes an, mehr als die Grenze von 16 MB</translation>
  </message>
  <message>
   <source>its header has far more entries than any model</source>
   <translation>ihr Kopf hat weit mehr Einträge als jedes Modell</translation>
  </message>
  <message>
   <source>its header is longer than any model's</source>
   <translation>ihr Kopf ist länger als der jedes Modells</translation>
  </message>
  <message>
   <source>its header is nested too deeply</source>
   <translation>ihr Kopf ist zu tief verschachtelt</translation>
  </message>
  <message>
   <source>its header is not valid JSON</source>
   <translation>ihr Kopf ist kein gültiges JSON</translation>
  </message>
  <message>
   <source>its header lists {error} twice</source>
   <translation>ihr Kopf nennt {error} zweimal</translation>
  </message>
  <message>
   <source>its heads do not divide its width</source>
   <translation>seine Köpfe teilen seine Breite nicht</translation>
  </message>
  <message>
   <source>its large kernels are in parts, which is not run</source>
   <translation>seine großen Kerne sind zerlegt, und solche laufen hier nicht</translation>
  </message>
  <message>
   <source>its last layer has {outer} channels</source>
   <translation>seine letzte Schicht hat {outer} Kanäle</translation>
  </message>
  <message>
   <source>its latents are those of {family}, not of {family_2}</source>
   <translation>die Latents sind die von {family}, nicht die von {family_2}</translation>
  </message>
  <message>
   <source>its levels go from {lowest:g} to {highest:g}</source>
   <translation>ihre Stufen reichen von {lowest:g} bis {highest:g}</translation>
  </message>
  <message>
   <source>its list of files is damaged</source>
   <translation>seine Dateiliste ist beschädigt</translation>
  </message>
  <message>
   <source>its metadata is not a list of texts</source>
   <translation>ihre Metadaten sind keine Liste von Texten</translation>
  </message>
  <message>
   <source>its middle has {layers} residual blocks</source>
   <translation>die Mitte hat {layers} Residualblöcke</translation>
  </message>
  <message>
   <source>its name has a character that no file's has</source>
   <translation>der Name enthält ein Zeichen, das in keinem Dateinamen stehen darf</translation>
  </message>
  <message>
   <source>its name is longer than this system takes</source>
   <translation>der Name ist länger, als dieses System erlaubt</translation>
  </message>
  <message>
   <source>its name says {value}</source>
   <translation>ihr Name sagt {value}</translation>
  </message>
  <message>
   <source>its name says {words}</source>
   <translation>sein Name sagt {words}</translation>
  </message>
  <message>
   <source>its numbers are big-endian</source>
   <translation>ihre Zahlen sind in Big-Endian</translation>
  </message>
  <message>
   <source>its numbers are none</source>
   <translation>seine Zahlen sind keine</translation>
  </message>
  <message>
   <source>its result is no map</source>
   <translation>ihr Ergebnis ist keine Karte</translation>
  </message>
  <message>
   <source>its result is no map of 150 classes</source>
   <translation>ihr Ergebnis ist keine Karte von 150 Klassen</translation>
  </message>
  <message>
   <source>its shapes are {family}'s</source>
   <translation>ihre Formen sind die von {family}</translation>
  </message>
  <message>
   <source>its tensors are aligned to {stated} bytes</source>
   <translation>ihre Tensoren sind an {stated} Bytes ausgerichtet</translation>
  </message>
  <message>
   <source>its tensors cannot be listed</source>
   <translation>ihre Tensoren können nicht aufgelistet werden</translation>
  </message>
  <message>
   <source>its text encoders have different numbers of vectors</source>
   <translation>ihre Textencoder haben verschieden viele Vektoren</translation>
  </message>
  <message>
   <source>its token ids repeat or are out of range</source>
   <translation>seine Token-Nummern wiederholen sich oder sind außerhalb des Bereichs</translation>
  </message>
  <message>
   <source>its vectors belong to the text encoder's results, not to its words (OneTrainer's output embedding)</source>
   <translation>seine Vektoren gehören zu den Ergebnissen des Textencoders, nicht zu seinen Wörtern (Ausgabe-Embedding von OneTrainer)</translation>
  </message>
  <message>
   <source>its vectors have the shape {list}</source>
   <translation>seine Vektoren haben die Form {list}</translation>
  </message>
  <message>
   <source>its weights are stored as {dtype}</source>
   <translation>seine Gewichte sind als {dtype} gespeichert</translation>
  </message>
  <message>
   <source>its windows have {rows} distances</source>
   <translation>seine Fenster haben {rows} Abstände</translation>
  </message>
  <message>
   <source>its {name!r} scales no weight of its own</source>
   <translation>{name!r} darin skaliert kein eigenes Gewicht</translation>
  </message>
  <message>
   <source>its {name} has shape {shape}</source>
   <translation>{name} hat die Form {shape}</translation>
  </message>
  <message>
   <source>key {key}</source>
   <translation>Schlüssel {key}</translation>
  </message>
  <message>
   <source>key {key} is {value:g}</source>
   <translation>Schlüssel {key} ist {value:g}</translation>
  </message>
  <message>
   <source>keys {first}, {second}</source>
   <translation>Schlüssel {first}, {second}</translation>
  </message>
  <message>
   <source>leaves a gap before it</source>
   <translation>lässt davor eine Lücke</translation>
  </message>
  <message>
   <source>length of a second pass's negative prompt</source>
   <translation>Länge des negativen Prompts eines zweiten Durchgangs</translation>
  </message>
  <message>
   <source>length of a second pass's prompt</source>
   <translation>Länge des Prompts eines zweiten Durchgangs</translation>
  </message>
  <message>
   <source>length of the negative prompt</source>
   <translation>Länge des negativen Prompts</translation>
  </message>
  <message>
   <source>length of the negative prompt's template</source>
   <translation>Länge der Vorlage des negativen Prompts</translation>
  </message>
  <message>
   <source>length of the prompt</source>
   <translation>Länge des Prompts</translation>
  </message>
  <message>
   <source>length of the prompt's template</source>
   <translation>Länge der Vorlage des Prompts</translation>
  </message>
  <message>
   <source>linear</source>
   <translation>linear</translation>
  </message>
  <message>
   <source>listing its tensors takes longer than any model's</source>
   <translation>das Auflisten ihrer Tensoren dauert länger als bei jedem Modell</translation>
  </message>
  <message>
   <source>longest side</source>
   <translation>längste Seite</translation>
  </message>
  <message>
   <source>lost a file it was reading</source>
   <translation>hat eine Datei verloren, die sie gerade las</translation>
  </message>
  <message>
   <source>low threshold</source>
   <translation>untere Schwelle</translation>
  </message>
  <message>
   <source>margin</source>
   <translation>Rand</translation>
  </message>
  <message>
   <source>mask</source>
   <translation>Maske</translation>
  </message>
  <message>
   <source>measured, and {other} was not</source>
   <translation>gemessen, {other} dagegen nicht</translation>
  </message>
  <message>
   <source>memory limit</source>
   <translation>Speichergrenze</translation>
  </message>
  <message>
   <source>met an instruction this processor does not have</source>
   <translation>traf auf einen Befehl, den dieser Prozessor nicht hat</translation>
  </message>
  <message>
   <source>metadata: {words}</source>
   <translation>Metadaten: {words}</translation>
  </message>
  <message>
   <source>misses a library</source>
   <translation>vermisst eine Bibliothek</translation>
  </message>
  <message>
   <source>more than {max_choices:,} words would be drawn</source>
   <translation>mehr als {max_choices:,} Wörter würden gezogen</translation>
  </message>
  <message>
   <source>negative aesthetic score</source>
   <translation>Negativer Ästhetikwert</translation>
  </message>
  <message>
   <source>negative prompt</source>
   <translation>Negativer Prompt</translation>
  </message>
  <message>
   <source>no AMD graphics card found</source>
   <translation>keine AMD-Grafikkarte gefunden</translation>
  </message>
  <message>
   <source>no NVIDIA graphics card found</source>
   <translation>keine NVIDIA-Grafikkarte gefunden</translation>
  </message>
  <message>
   <source>no driver is loaded for it</source>
   <translation>kein Treiber ist dafür geladen</translation>
  </message>
  <message>
   <source>no driver offers a graphics processor to WebGPU ({api})</source>
   <translation>kein Treiber bietet WebGPU einen Grafikprozessor an ({api})</translation>
  </message>
  <message>
   <source>no graphics processor is listed</source>
   <translation>kein Grafikprozessor ist aufgeführt</translation>
  </message>
  <message>
   <source>no kernels for {card}, only for {others}</source>
   <translation>keine Kernel für {card}, nur für {others}</translation>
  </message>
  <message>
   <source>no picture is enlarged within its run</source>
   <translation>hier wird kein Bild innerhalb seines Laufs vergrößert</translation>
  </message>
  <message>
   <source>no pipeline</source>
   <translation>keine Pipeline</translation>
  </message>
  <message>
   <source>noise prediction</source>
   <translation>Rauschvorhersage</translation>
  </message>
  <message>
   <source>noise_scale</source>
   <translation>Rauschstärke</translation>
  </message>
  <message>
   <source>not measured yet</source>
   <translation>noch nicht gemessen</translation>
  </message>
  <message>
   <source>nothing can follow .blend()</source>
   <translation>auf .blend() kann nichts folgen</translation>
  </message>
  <message>
   <source>nothing says otherwise</source>
   <translation>nichts spricht dagegen</translation>
  </message>
  <message>
   <source>number of LoRA hashes</source>
   <translation>Zahl der LoRA-Hashes</translation>
  </message>
  <message>
   <source>number of LoRAs</source>
   <translation>Zahl der LoRAs</translation>
  </message>
  <message>
   <source>number of PAG layers</source>
   <translation>Zahl der PAG-Schichten</translation>
  </message>
  <message>
   <source>number of control layers</source>
   <translation>Zahl der Kontrollebenen</translation>
  </message>
  <message>
   <source>number of discards_next_to_last</source>
   <translation>Zahl von discards_next_to_last</translation>
  </message>
  <message>
   <source>number of embedding hashes</source>
   <translation>Zahl der Embedding-Hashes</translation>
  </message>
  <message>
   <source>number of embedding_spellings</source>
   <translation>Zahl von embedding_spellings</translation>
  </message>
  <message>
   <source>number of further pictures</source>
   <translation>Anzahl weiterer Bilder</translation>
  </message>
  <message>
   <source>number of image prompts</source>
   <translation>Zahl der Bildprompts</translation>
  </message>
  <message>
   <source>number of pictures</source>
   <translation>Zahl der Bilder</translation>
  </message>
  <message>
   <source>number of second passes</source>
   <translation>Zahl der zweiten Durchgänge</translation>
  </message>
  <message>
   <source>number of steps</source>
   <translation>Zahl der Schritte</translation>
  </message>
  <message>
   <source>number of steps of a second pass</source>
   <translation>Zahl der Schritte eines zweiten Durchgangs</translation>
  </message>
  <message>
   <source>of another kind</source>
   <translation>von anderer Art</translation>
  </message>
  <message>
   <source>of this family, as no name says otherwise</source>
   <translation>von dieser Familie, da kein Name etwas anderes sagt</translation>
  </message>
  <message>
   <source>of {family} by its keys</source>
   <translation>den Schlüsseln nach von {family}</translation>
  </message>
  <message>
   <source>of {family} by its name</source>
   <translation>dem Namen nach von {family}</translation>
  </message>
  <message>
   <source>of {layers} layers</source>
   <translation>{layers} Schichten</translation>
  </message>
  <message>
   <source>one for {before} times</source>
   <translation>für die {before}-fache</translation>
  </message>
  <message>
   <source>one for {channels}</source>
   <translation>für {channels}</translation>
  </message>
  <message>
   <source>one for {colours}</source>
   <translation>für {colours}</translation>
  </message>
  <message>
   <source>one of more than {layers}</source>
   <translation>mehr als {layers}</translation>
  </message>
  <message>
   <source>one step of the denoiser shows it</source>
   <translation>ein Schritt des Entrauschers zeigt es</translation>
  </message>
  <message>
   <source>one that leaves room for the {label} in {width}</source>
   <translation>mit Platz für diesen Teil in {width}: {label}</translation>
  </message>
  <message>
   <source>one with it</source>
   <translation>mit einer solchen</translation>
  </message>
  <message>
   <source>one {width} wide</source>
   <translation>eine Breite von {width}</translation>
  </message>
  <message>
   <source>onnxruntime is not installed, which {title} works in</source>
   <translation>onnxruntime ist nicht installiert, worin {title} arbeitet</translation>
  </message>
  <message>
   <source>out of memory</source>
   <translation>der Speicher reicht nicht</translation>
  </message>
  <message>
   <source>overflowed its stack</source>
   <translation>ließ ihren Stapel überlaufen</translation>
  </message>
  <message>
   <source>overlaps another</source>
   <translation>überlappt einen anderen</translation>
  </message>
  <message>
   <source>padding of the mask</source>
   <translation>Umfeld der Maske</translation>
  </message>
  <message>
   <source>picture</source>
   <translation>Bild</translation>
  </message>
  <message>
   <source>prediction of the picture</source>
   <translation>Bildvorhersage</translation>
  </message>
  <message>
   <source>preparing the networks</source>
   <translation>die Netze vorbereitet wurden</translation>
  </message>
  <message>
   <source>projected to {projected_width} numbers</source>
   <translation>auf {projected_width} Zahlen projiziert</translation>
  </message>
  <message>
   <source>prompt</source>
   <translation>Prompt</translation>
  </message>
  <message>
   <source>ran out of memory</source>
   <translation>hatte keinen Speicher mehr</translation>
  </message>
  <message>
   <source>range of a picture</source>
   <translation>Bereich eines Bilds</translation>
  </message>
  <message>
   <source>reading the model</source>
   <translation>das Modell gelesen wurde</translation>
  </message>
  <message>
   <source>reading the prompt</source>
   <translation>der Prompt gelesen wurde</translation>
  </message>
  <message>
   <source>reference picture</source>
   <translation>Referenzbild</translation>
  </message>
  <message>
   <source>refiner's start</source>
   <translation>Beginn des Refiners</translation>
  </message>
  <message>
   <source>resolution</source>
   <translation>Auflösung</translation>
  </message>
  <message>
   <source>rho</source>
   <translation>Rho</translation>
  </message>
  <message>
   <source>safetensors file</source>
   <translation>safetensors-Datei</translation>
  </message>
  <message>
   <source>sampled as Base, by its name</source>
   <translation>wie Base gesampelt, nach dem Namen</translation>
  </message>
  <message>
   <source>sampled as Base, which is stated</source>
   <translation>wie Base gesampelt, wie angegeben</translation>
  </message>
  <message>
   <source>sampled as Canny: it takes a map of edges</source>
   <translation>gesampelt wie Canny: es nimmt eine Karte von Kanten</translation>
  </message>
  <message>
   <source>sampled as Chroma1-Flash, by its name</source>
   <translation>gesampelt wie Chroma1-Flash, nach seinem Namen</translation>
  </message>
  <message>
   <source>sampled as Chroma1-HD</source>
   <translation>gesampelt wie Chroma1-HD</translation>
  </message>
  <message>
   <source>sampled as Depth: it takes a map</source>
   <translation>gesampelt wie Depth: es nimmt eine Karte</translation>
  </message>
  <message>
   <source>sampled as Fill: it takes a masked picture</source>
   <translation>berechnet wie Fill: Es nimmt ein maskiertes Bild</translation>
  </message>
  <message>
   <source>sampled as Kontext, by its name</source>
   <translation>gesampelt wie Kontext, nach dem Namen</translation>
  </message>
  <message>
   <source>sampled as Kontext, which is stated</source>
   <translation>gesampelt wie Kontext, wie angegeben</translation>
  </message>
  <message>
   <source>sampled as Krea, by its name</source>
   <translation>wie Krea gesampelt, nach seinem Namen</translation>
  </message>
  <message>
   <source>sampled as SD 3 medium</source>
   <translation>gesampelt wie SD 3 medium</translation>
  </message>
  <message>
   <source>sampled as SD 3.5 large</source>
   <translation>gesampelt wie SD 3.5 large</translation>
  </message>
  <message>
   <source>sampled as SD 3.5 large turbo, by its name</source>
   <translation>gesampelt wie SD 3.5 large turbo, nach seinem Namen</translation>
  </message>
  <message>
   <source>sampled as SD 3.5 medium</source>
   <translation>gesampelt wie SD 3.5 medium</translation>
  </message>
  <message>
   <source>sampled as Turbo, which is stated</source>
   <translation>wie Turbo gesampelt, wie angegeben</translation>
  </message>
  <message>
   <source>sampled as Turbo: no name says that it is Base</source>
   <translation>wie Turbo gesampelt: Kein Name besagt, dass es Base ist</translation>
  </message>
  <message>
   <source>sampled as base, by its name</source>
   <translation>gesampelt wie base, nach seinem Namen</translation>
  </message>
  <message>
   <source>sampled as base, which is stated</source>
   <translation>gesampelt wie base, wie angegeben</translation>
  </message>
  <message>
   <source>sampled as dev: guidance is an input of it</source>
   <translation>wie dev gesampelt: Guidance ist eine Eingabe</translation>
  </message>
  <message>
   <source>sampled as distilled, which is stated</source>
   <translation>gesampelt wie destilliert, wie angegeben</translation>
  </message>
  <message>
   <source>sampled as distilled: no name says that it is base</source>
   <translation>gesampelt wie destilliert: Kein Name besagt, dass es base ist</translation>
  </message>
  <message>
   <source>sampled as schnell: it takes no guidance</source>
   <translation>wie schnell gesampelt: es nimmt keine Guidance</translation>
  </message>
  <message>
   <source>sampled as {title}, which is trained so</source>
   <translation>berechnet wie {title}, das so trainiert ist</translation>
  </message>
  <message>
   <source>sampled as {title}: {where} says {words!r}</source>
   <translation>berechnet wie {title}: {where} sagt {words!r}</translation>
  </message>
  <message>
   <source>sampler</source>
   <translation>Sampler</translation>
  </message>
  <message>
   <source>saving it</source>
   <translation>es gespeichert wurde</translation>
  </message>
  <message>
   <source>scale</source>
   <translation>Faktor</translation>
  </message>
  <message>
   <source>schedule</source>
   <translation>Zeitplan</translation>
  </message>
  <message>
   <source>second text encoder (OpenCLIP bigG)</source>
   <translation>Zweiter Textencoder (OpenCLIP bigG)</translation>
  </message>
  <message>
   <source>second text encoder (T5-XXL)</source>
   <translation>zweiter Textencoder (T5-XXL)</translation>
  </message>
  <message>
   <source>seed</source>
   <translation>Seed</translation>
  </message>
  <message>
   <source>seed of a second pass</source>
   <translation>Seed eines zweiten Durchgangs</translation>
  </message>
  <message>
   <source>side</source>
   <translation>Seite</translation>
  </message>
  <message>
   <source>side of a tile</source>
   <translation>Seite einer Kachel</translation>
  </message>
  <message>
   <source>side of the crop</source>
   <translation>Seite des Ausschnitts</translation>
  </message>
  <message>
   <source>side of the negative crop</source>
   <translation>Seite des negativen Ausschnitts</translation>
  </message>
  <message>
   <source>side of the negative original size</source>
   <translation>Seite der negativen Originalgröße</translation>
  </message>
  <message>
   <source>side of the negative target size</source>
   <translation>Seite der negativen Zielgröße</translation>
  </message>
  <message>
   <source>side of the original size</source>
   <translation>Seite der Originalgröße</translation>
  </message>
  <message>
   <source>side of the seed's size</source>
   <translation>Seite der Größe des Seeds</translation>
  </message>
  <message>
   <source>side of the target size</source>
   <translation>Seite der Zielgröße</translation>
  </message>
  <message>
   <source>sigma</source>
   <translation>Sigma</translation>
  </message>
  <message>
   <source>sigma_max</source>
   <translation>Größtes Sigma</translation>
  </message>
  <message>
   <source>sigma_min</source>
   <translation>Kleinstes Sigma</translation>
  </message>
  <message>
   <source>some of its numbers are not finite</source>
   <translation>einige ihrer Zahlen sind nicht endlich</translation>
  </message>
  <message>
   <source>start of FreeU</source>
   <translation>Anfang von FreeU</translation>
  </message>
  <message>
   <source>start of PAG</source>
   <translation>Anfang von PAG</translation>
  </message>
  <message>
   <source>start of guidance</source>
   <translation>Beginn der Guidance</translation>
  </message>
  <message>
   <source>start of range of a control layer</source>
   <translation>Anfang des Bereichs einer Kontrollebene</translation>
  </message>
  <message>
   <source>start of range of an image prompt</source>
   <translation>Anfang des Bereichs eines Bildprompts</translation>
  </message>
  <message>
   <source>strength</source>
   <translation>Stärke</translation>
  </message>
  <message>
   <source>strength of a LoRA</source>
   <translation>Stärke einer LoRA</translation>
  </message>
  <message>
   <source>strength of a second pass</source>
   <translation>Stärke eines zweiten Durchgangs</translation>
  </message>
  <message>
   <source>style fidelity</source>
   <translation>Stiltreue</translation>
  </message>
  <message>
   <source>tensor name {quoted} is not plain text</source>
   <translation>der Tensorname {quoted} ist kein einfacher Text</translation>
  </message>
  <message>
   <source>tensor name {quoted} is too long or not plain text</source>
   <translation>der Tensorname {quoted} ist zu lang oder kein einfacher Text</translation>
  </message>
  <message>
   <source>tensor {name} does not fit its shape</source>
   <translation>Tensor {name} passt nicht zu seiner Form</translation>
  </message>
  <message>
   <source>tensor {name} has the shape [{shape}]</source>
   <translation>Tensor {name} hat die Form [{shape}]</translation>
  </message>
  <message>
   <source>tensor {name} has {rank} dimensions</source>
   <translation>Tensor {name} hat {rank} Dimensionen</translation>
  </message>
  <message>
   <source>tensor {name} {fault}</source>
   <translation>Tensor {name} {fault}</translation>
  </message>
  <message>
   <source>tensor {quoted} has a size that does not fit its shape</source>
   <translation>Tensor {quoted} hat eine Größe, die nicht zu seiner Form passt</translation>
  </message>
  <message>
   <source>tensor {quoted} has no possible size</source>
   <translation>Tensor {quoted} hat keine mögliche Größe</translation>
  </message>
  <message>
   <source>tensor {quoted} is damaged</source>
   <translation>Tensor {quoted} ist beschädigt</translation>
  </message>
  <message>
   <source>tensor {quoted} is of an unknown type</source>
   <translation>Tensor {quoted} ist von unbekannter Art</translation>
  </message>
  <message>
   <source>tensor {quoted} is there twice</source>
   <translation>Tensor {quoted} ist doppelt da</translation>
  </message>
  <message>
   <source>tensor {quoted} lies beyond the end of the file</source>
   <translation>Tensor {quoted} liegt hinter dem Ende der Datei</translation>
  </message>
  <message>
   <source>tensor {quoted} {fault}</source>
   <translation>Tensor {quoted} {fault}</translation>
  </message>
  <message>
   <source>tensors</source>
   <translation>Tensoren</translation>
  </message>
  <message>
   <source>text encoder</source>
   <translation>Textencoder</translation>
  </message>
  <message>
   <source>text encoder (CLIP ViT-L)</source>
   <translation>Textencoder (CLIP ViT-L)</translation>
  </message>
  <message>
   <source>text encoder (Qwen3)</source>
   <translation>Textencoder (Qwen3)</translation>
  </message>
  <message>
   <source>text encoder (Qwen3-4B)</source>
   <translation>Textencoder (Qwen3-4B)</translation>
  </message>
  <message>
   <source>text encoder (T5-XXL)</source>
   <translation>Text-Encoder (T5-XXL)</translation>
  </message>
  <message>
   <source>text encoders of width {widths}</source>
   <translation>Textencoder der Breite {widths}</translation>
  </message>
  <message>
   <source>text strength of a LoRA</source>
   <translation>Textstärke einer LoRA</translation>
  </message>
  <message>
   <source>the compiler cannot be started: {reason}</source>
   <translation>der Compiler lässt sich nicht starten: {reason}</translation>
  </message>
  <message>
   <source>the compiler died with status {status}: {reason}</source>
   <translation>der Compiler endete mit Status {status}: {reason}</translation>
  </message>
  <message>
   <source>the display does not answer</source>
   <translation>die Anzeige antwortet nicht</translation>
  </message>
  <message>
   <source>the embedding in the picture cannot be read</source>
   <translation>das Embedding im Bild kann nicht gelesen werden</translation>
  </message>
  <message>
   <source>the entry of tensor {name} in its header is wrong</source>
   <translation>der Eintrag des Tensors {name} in ihrem Kopf ist falsch</translation>
  </message>
  <message>
   <source>the file is called {name}</source>
   <translation>die Datei heißt {name}</translation>
  </message>
  <message>
   <source>the files of {names} are mixed: uninstall {others}, then install the one that is wanted</source>
   <translation>die Dateien von {names} sind vermischt: {others} deinstallieren, dann das gewünschte installieren</translation>
  </message>
  <message>
   <source>the folder has no scheduler</source>
   <translation>der Ordner hat keinen Scheduler</translation>
  </message>
  <message>
   <source>the graphics processor stopped answering: {reason}</source>
   <translation>der Grafikprozessor antwortet nicht mehr: {reason}</translation>
  </message>
  <message>
   <source>the halves of the change of {name!r} do not fit</source>
   <translation>die Hälften der Änderung von {name!r} passen nicht zusammen</translation>
  </message>
  <message>
   <source>the merge {first!r} {second!r} is not in the vocabulary</source>
   <translation>die Verbindung {first!r} {second!r} ist nicht im Vokabular</translation>
  </message>
  <message>
   <source>the name of the file</source>
   <translation>der Dateiname</translation>
  </message>
  <message>
   <source>the name of {what} is too long or not plain text: {name}</source>
   <translation>der Name {what} ist zu lang oder kein einfacher Text: {name}</translation>
  </message>
  <message>
   <source>the note on the integers of {name!r} cannot be read</source>
   <translation>die Angabe zu den ganzen Zahlen von {name!r} ist nicht lesbar</translation>
  </message>
  <message>
   <source>the one before</source>
   <translation>die davor</translation>
  </message>
  <message>
   <source>the only one that is known to work here</source>
   <translation>das einzige, das hier bekanntermaßen funktioniert</translation>
  </message>
  <message>
   <source>the parts of {name!r} do not fit</source>
   <translation>die Teile von {name!r} passen nicht zusammen</translation>
  </message>
  <message>
   <source>the picture holds none</source>
   <translation>das Bild enthält keines</translation>
  </message>
  <message>
   <source>the plug-in does not list {name}</source>
   <translation>das Plug-in führt {name} nicht auf</translation>
  </message>
  <message>
   <source>the plug-in is not installed</source>
   <translation>das Plug-in ist nicht installiert</translation>
  </message>
  <message>
   <source>the processor is off by {share} from NumPy's sums</source>
   <translation>der Prozessor liegt um {share} neben den Summen von NumPy</translation>
  </message>
  <message>
   <source>the program that lists its tensors was stopped by it</source>
   <translation>das Programm, das ihre Tensoren auflistet, wurde von ihr zum Absturz gebracht</translation>
  </message>
  <message>
   <source>the prompt becomes too long</source>
   <translation>der Prompt wird zu lang</translation>
  </message>
  <message>
   <source>the rows of tensor {name} are no whole blocks of {dtype}</source>
   <translation>die Zeilen von Tensor {name} sind keine ganzen Blöcke von {dtype}</translation>
  </message>
  <message>
   <source>the special token {token!r} is not in the vocabulary</source>
   <translation>das besondere Token {token!r} ist nicht im Vokabular</translation>
  </message>
  <message>
   <source>the spread of {key} is {spread:.2f}</source>
   <translation>die Streuung von {key} ist {spread:.2f}</translation>
  </message>
  <message>
   <source>the system lacks {library}</source>
   <translation>dem System fehlt {library}</translation>
  </message>
  <message>
   <source>the wildcard {name} leads back to itself</source>
   <translation>der Platzhalter {name} führt zu sich selbst zurück</translation>
  </message>
  <message>
   <source>there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)</source>
   <translation>es gibt keine Anzeige (weder DISPLAY noch WAYLAND_DISPLAY ist gesetzt)</translation>
  </message>
  <message>
   <source>there is no list called "{name}"</source>
   <translation>es gibt keine Liste „{name}“</translation>
  </message>
  <message>
   <source>there is no list called "{name}", because {folder}, where they are looked for, is a file</source>
   <translation>es gibt keine Liste „{name}“, weil {folder}, wo sie gesucht werden, eine Datei ist</translation>
  </message>
  <message>
   <source>there is no preset called {name!r}</source>
   <translation>es gibt keine Vorlage namens {name!r}</translation>
  </message>
  <message>
   <source>there is no set of elements called {name!r}</source>
   <translation>es gibt keinen Elementsatz namens {name!r}</translation>
  </message>
  <message>
   <source>there is no such file</source>
   <translation>es gibt keine solche Datei</translation>
  </message>
  <message>
   <source>there is no such folder</source>
   <translation>diesen Ordner gibt es nicht</translation>
  </message>
  <message>
   <source>third text encoder (T5-XXL)</source>
   <translation>dritter Textencoder (T5-XXL)</translation>
  </message>
  <message>
   <source>this Mac has no processor of Apple's own</source>
   <translation>dieser Mac hat keinen Prozessor von Apple</translation>
  </message>
  <message>
   <source>this build of ONNX Runtime has no {name}</source>
   <translation>dieser Build von ONNX Runtime hat kein {name}</translation>
  </message>
  <message>
   <source>threshold</source>
   <translation>Schwelle</translation>
  </message>
  <message>
   <source>tile of a second pass</source>
   <translation>Kachel eines zweiten Durchgangs</translation>
  </message>
  <message>
   <source>tile of the VAE</source>
   <translation>Kachel des VAE</translation>
  </message>
  <message>
   <source>tiny VAE (TAESD), {channels} latent channels</source>
   <translation>Kleines VAE (TAESD), {channels} latente Kanäle</translation>
  </message>
  <message>
   <source>tiny VAE (TAESD), {channels} latent channels, {naming}</source>
   <translation>Kleines VAE (TAESD), {channels} latente Kanäle, {naming}</translation>
  </message>
  <message>
   <source>transformer {width} wide with {blocks} joint blocks</source>
   <translation>Transformer, {width} breit, mit {blocks} gemeinsamen Blöcken</translation>
  </message>
  <message>
   <source>transformer {width} wide with {double} double and {single} single blocks</source>
   <translation>Transformer, {width} breit, mit {double} doppelten und {single} einfachen Blöcken</translation>
  </message>
  <message>
   <source>transformer {width} wide with {layers} layers</source>
   <translation>Transformer, {width} breit, mit {layers} Schichten</translation>
  </message>
  <message>
   <source>true CFG scale</source>
   <translation>Wahre CFG</translation>
  </message>
  <message>
   <source>v-prediction</source>
   <translation>v-Vorhersage</translation>
  </message>
  <message>
   <source>variation seed</source>
   <translation>Seed der Variation</translation>
  </message>
  <message>
   <source>variation strength</source>
   <translation>Stärke der Variation</translation>
  </message>
  <message>
   <source>was aborted by native code</source>
   <translation>wurde von nativem Code abgebrochen</translation>
  </message>
  <message>
   <source>was ended by another program</source>
   <translation>wurde von einem anderen Programm beendet</translation>
  </message>
  <message>
   <source>was ended by the system</source>
   <translation>wurde vom System beendet</translation>
  </message>
  <message>
   <source>weight of a control layer</source>
   <translation>Gewicht einer Kontrollebene</translation>
  </message>
  <message>
   <source>weight of a picture</source>
   <translation>Gewicht eines Bilds</translation>
  </message>
  <message>
   <source>weight of an image prompt</source>
   <translation>Gewicht eines Bild-Prompts</translation>
  </message>
  <message>
   <source>width</source>
   <translation>Breite</translation>
  </message>
  <message>
   <source>width of a second pass</source>
   <translation>Breite eines zweiten Durchgangs</translation>
  </message>
  <message>
   <source>without text_projection</source>
   <translation>ohne text_projection</translation>
  </message>
  <message>
   <source>you may not write there</source>
   <translation>dort darf nicht geschrieben werden</translation>
  </message>
  <message>
   <source>you say so</source>
   <translation>so angegeben von Hand</translation>
  </message>
  <message>
   <source>you say so (found: {found})</source>
   <translation>so angegeben von Hand (gefunden: {found})</translation>
  </message>
  <message>
   <source>{adapter} needs the vision encoder {encoder}, and no such file was found.</source>
   <translation>{adapter} braucht den Bild-Encoder {encoder}, und keine solche Datei wurde gefunden.</translation>
  </message>
  <message>
   <source>{adapter} needs the vision encoder {wanted}; {encoder} is {title}.</source>
   <translation>{adapter} braucht den Bild-Encoder {wanted}; {encoder} ist {title}.</translation>
  </message>
  <message>
   <source>{amount} follow its last tensor</source>
   <translation>{amount} folgen auf ihren letzten Tensor</translation>
  </message>
  <message>
   <source>{backend} cannot compute in {first} on {device}.</source>
   <translation>{backend} kann auf {device} nicht in {first} rechnen.</translation>
  </message>
  <message>
   <source>{backend} cannot keep weights in {bits} bits on {device}.</source>
   <translation>{backend} kann auf {device} Gewichte nicht in {bits} Bit halten.</translation>
  </message>
  <message>
   <source>{backend} failed on {device}.</source>
   <translation>{backend} hat auf {device} versagt.</translation>
  </message>
  <message>
   <source>{backend}: {reason}</source>
   <translation>{backend}: {reason}</translation>
  </message>
  <message>
   <source>{base} is a folder, and so is what is baked from it.</source>
   <translation>{base} ist ein Ordner, und was daraus gebacken wird, ist es auch.</translation>
  </message>
  <message>
   <source>{before} failed on {device}; {after} goes on with what is left.</source>
   <translation>{before} hat auf {device} versagt; {after} macht mit dem Übrigen weiter.</translation>
  </message>
  <message>
   <source>{card} is about another file: it names another SHA-256</source>
   <translation>{card} meint eine andere Datei: Dort steht ein anderer SHA-256</translation>
  </message>
  <message>
   <source>{card}, but its shapes are {family}'s</source>
   <translation>{card}, aber die Formen sind die von {family}</translation>
  </message>
  <message>
   <source>{choose} If its parts are nevertheless an ordinary one's, say of which family.</source>
   <translation>{choose} Sind die Teile dennoch die üblichen, die Familie angeben.</translation>
  </message>
  <message>
   <source>{count} of the changed weights are stored as fp8, whose steps are so wide that part of what the LoRAs change is lost.</source>
   <translation>{count} der geänderten Gewichte sind als fp8 gespeichert, dessen Stufen so grob sind, dass ein Teil der Änderungen der LoRAs verloren geht.</translation>
  </message>
  <message>
   <source>{count} of the files there are not hashed yet, and one may be it.</source>
   <translation>{count} der Dateien dort haben noch keinen Hash; eine davon kann es sein.</translation>
  </message>
  <message>
   <source>{count} of the {total_keys} keys of {path} were not applied.</source>
   <translation>{count} der {total_keys} Schlüssel von {path} wurden nicht angewandt.</translation>
  </message>
  <message>
   <source>{count} pictures at a time cannot be queued.</source>
   <translation>{count} Bilder auf einmal können nicht eingereiht werden.</translation>
  </message>
  <message>
   <source>{count} weights are given, and {possible} are possible</source>
   <translation>{count} Gewichte sind angegeben, möglich sind {possible}</translation>
  </message>
  <message>
   <source>{device} has no memory of its own, so the limit of the device's memory does nothing.</source>
   <translation>{device} hat keinen eigenen Speicher, darum bewirkt die Grenze des Gerätespeichers nichts.</translation>
  </message>
  <message>
   <source>{device} ran out of memory, so parts of the model were copied there at each step, which takes longer.</source>
   <translation>Der Speicher von {device} reichte nicht; deshalb wurden Teile des Modells bei jedem Schritt dorthin kopiert, was länger dauert.</translation>
  </message>
  <message>
   <source>{family} has no such variant</source>
   <translation>{family} hat keine solche Variante</translation>
  </message>
  <message>
   <source>{family}, {why}</source>
   <translation>{family}, {why}</translation>
  </message>
  <message>
   <source>{file} and {n:,} more</source>
   <translation>{file} und {n:,} weitere</translation>
  </message>
  <message>
   <source>{file} cannot be written in {folder}: {detail}.</source>
   <translation>{file} lässt sich in {folder} nicht schreiben: {detail}.</translation>
  </message>
  <message>
   <source>{file} holds values that are not a number; it changes the weight {weight}.</source>
   <translation>{file} enthält Werte, die keine Zahl sind; es ändert das Gewicht {weight}.</translation>
  </message>
  <message>
   <source>{file} is not downloaded from {host}: the connection would not be encrypted.</source>
   <translation>{file} wird nicht von {host} heruntergeladen: Die Verbindung wäre nicht verschlüsselt.</translation>
  </message>
  <message>
   <source>{first} and no {second}</source>
   <translation>{first} und {second}</translation>
  </message>
  <message>
   <source>{folder} has no {file_name}.</source>
   <translation>{folder} enthält kein {file_name}.</translation>
  </message>
  <message>
   <source>{folder} was trained in a way this version does not run: {where} says {what}.</source>
   <translation>{folder} wurde auf eine Art trainiert, mit der diese Version nicht rechnet: {where} sagt {what}.</translation>
  </message>
  <message>
   <source>{form} for {family}</source>
   <translation>{form} für {family}</translation>
  </message>
  <message>
   <source>{found} wide</source>
   <translation>{found} breit</translation>
  </message>
  <message>
   <source>{hashed} files were hashed for this, which is done once for each file.</source>
   <translation>Dafür wurden die Hashes von {hashed} Dateien berechnet, was für jede Datei einmal geschieht.</translation>
  </message>
  <message>
   <source>{host} could not prove that it is {host}.</source>
   <translation>{host} konnte nicht beweisen, dass es {host} ist.</translation>
  </message>
  <message>
   <source>{host} does not give out {file} (status {status}).</source>
   <translation>{host} gibt {file} nicht heraus (Status {status}).</translation>
  </message>
  <message>
   <source>{host} gave an answer for {file} that makes no sense.</source>
   <translation>{host} gab für {file} eine Antwort ohne Sinn.</translation>
  </message>
  <message>
   <source>{host} has another file under the name {file}: its hash differs.</source>
   <translation>{host} hat unter dem Namen {file} eine andere Datei: Ihr Hash ist ein anderer.</translation>
  </message>
  <message>
   <source>{host} has another file under the name {file}: its size differs.</source>
   <translation>{host} hat unter dem Namen {file} eine andere Datei: Ihre Größe ist eine andere.</translation>
  </message>
  <message>
   <source>{host} is too busy to send {file} now.</source>
   <translation>{host} ist zu beschäftigt, um {file} jetzt zu senden.</translation>
  </message>
  <message>
   <source>{host} sends the download of {file} elsewhere, to {detail}.</source>
   <translation>{host} leitet den Download von {file} weiter, zu {detail}.</translation>
  </message>
  <message>
   <source>{host} stopped sending.</source>
   <translation>{host} sendet nicht mehr.</translation>
  </message>
  <message>
   <source>{kept} {look}</source>
   <translation>{kept} {look}</translation>
  </message>
  <message>
   <source>{key} has the shape {list}</source>
   <translation>{key} hat die Form {list}</translation>
  </message>
  <message>
   <source>{key} has {count} numbers instead of one</source>
   <translation>{key} hat {count} Zahlen statt einer</translation>
  </message>
  <message>
   <source>{key} holds what is no number</source>
   <translation>{key} enthält etwas, das keine Zahl ist</translation>
  </message>
  <message>
   <source>{max} and {below} are the nearest.</source>
   <translation>{max} und {below} sind die nächsten.</translation>
  </message>
  <message>
   <source>{mean} and {deviation} are no means and deviations</source>
   <translation>{mean} und {deviation} sind keine Mittelwerte und Abweichungen</translation>
  </message>
  <message>
   <source>{method} has no scale of its own.</source>
   <translation>{method} hat keinen eigenen Faktor.</translation>
  </message>
  <message>
   <source>{model} cannot attend to a reference picture.</source>
   <translation>{model} kann kein Referenzbild ansehen.</translation>
  </message>
  <message>
   <source>{model} cannot draw seamless edges.</source>
   <translation>{model} kann keine nahtlosen Ränder zeichnen.</translation>
  </message>
  <message>
   <source>{model} has no layers that FreeU changes.</source>
   <translation>{model} hat keine Schichten, die FreeU ändert.</translation>
  </message>
  <message>
   <source>{model} has no self-attention in {layer} to perturb.</source>
   <translation>{model} hat in {layer} keine Selbstaufmerksamkeit, die gestört werden könnte.</translation>
  </message>
  <message>
   <source>{most} or {last}</source>
   <translation>{most} oder {last}</translation>
  </message>
  <message>
   <source>{n:,} MB</source>
   <translation>{n:,} MB</translation>
  </message>
  <message>
   <source>{name!r} has the shape {list}</source>
   <translation>{name!r} hat die Form {list}</translation>
  </message>
  <message>
   <source>{name!r} says that {count} columns were rotated together</source>
   <translation>{name!r} gibt an, dass {count} Spalten zusammen gedreht wurden</translation>
  </message>
  <message>
   <source>{name} ({width} wide)</source>
   <translation>{name} ({width} breit)</translation>
  </message>
  <message>
   <source>{name} ({width} wide), the encoder of {models}</source>
   <translation>{name} ({width} breit), der Encoder von {models}</translation>
  </message>
  <message>
   <source>{name} cannot be used any more: {reason}</source>
   <translation>{name} lässt sich nicht mehr verwenden: {reason}</translation>
  </message>
  <message>
   <source>{name} did not start within {n} s.</source>
   <translation>{name} ist in {n} s nicht gestartet.</translation>
  </message>
  <message>
   <source>{name} does not see it: {reason}</source>
   <translation>{name} sieht es nicht: {reason}</translation>
  </message>
  <message>
   <source>{name} does not start: {reason}</source>
   <translation>{name} startet nicht: {reason}</translation>
  </message>
  <message>
   <source>{name} has no kernels for {card}, only for {others}</source>
   <translation>{name} hat keine Kernel für {card}, nur für {others}</translation>
  </message>
  <message>
   <source>{name} has no {provider} on this system</source>
   <translation>{name} hat auf diesem System kein {provider}</translation>
  </message>
  <message>
   <source>{name} has no {provider}, which {other} has</source>
   <translation>{name} hat kein {provider}, das {other} hat</translation>
  </message>
  <message>
   <source>{name} has {found}; another build has them</source>
   <translation>{name} hat {found}; ein anderer Build hat sie</translation>
  </message>
  <message>
   <source>{name} is a file and a folder</source>
   <translation>{name} ist Datei und Ordner zugleich</translation>
  </message>
  <message>
   <source>{name} is a link or a device</source>
   <translation>{name} ist eine Verknüpfung oder ein Gerät</translation>
  </message>
  <message>
   <source>{name} is in two wheels and differs</source>
   <translation>{name} ist in zwei Wheels verschieden</translation>
  </message>
  <message>
   <source>{name} is no longer there</source>
   <translation>{name} ist nicht mehr da</translation>
  </message>
  <message>
   <source>{name} is no name of a file below its folder</source>
   <translation>{name} ist kein Name einer Datei in seinem Ordner</translation>
  </message>
  <message>
   <source>{name} is no shape</source>
   <translation>{name} ist keine Form</translation>
  </message>
  <message>
   <source>{name} is not installed</source>
   <translation>{name} ist nicht installiert</translation>
  </message>
  <message>
   <source>{name} is of the unknown kind {kind}</source>
   <translation>{name} hat die unbekannte Art {kind}</translation>
  </message>
  <message>
   <source>{name} is there under another case of letters</source>
   <translation>{name} ist schon in anderer Groß- und Kleinschreibung da</translation>
  </message>
  <message>
   <source>{name} is too old: it takes no weights from memory</source>
   <translation>{name} ist zu alt: es nimmt keine Gewichte aus dem Speicher</translation>
  </message>
  <message>
   <source>{name} lacks {key!r}, which {path} says it holds.</source>
   <translation>{name} fehlt {key!r}, das laut {path} darin ist.</translation>
  </message>
  <message>
   <source>{name} lies over {other} and has no {provider}: uninstall {all}, then install {wanted}</source>
   <translation>{name} liegt über {other} und hat kein {provider}: {all} deinstallieren, dann {wanted} installieren</translation>
  </message>
  <message>
   <source>{name} lists what cannot be listed</source>
   <translation>{name} führt auf, was nicht aufgeführt werden kann</translation>
  </message>
  <message>
   <source>{name} on {device}: Its results are correct: {results}.</source>
   <translation>{name} auf {device}: Die Ergebnisse stimmen: {results}.</translation>
  </message>
  <message>
   <source>{name} starts, and has no device here yet: {reason}.</source>
   <translation>{name} startet und hat hier noch kein Gerät: {reason}.</translation>
  </message>
  <message>
   <source>{network} follows several kinds of maps, and the kind of {image} is not known.</source>
   <translation>{network} folgt mehreren Arten von Karten, und die Art von {image} ist nicht bekannt.</translation>
  </message>
  <message>
   <source>{network} paints a part of {image}, and no mask tells which: it keeps all of it.</source>
   <translation>{network} malt einen Teil von {image}, und keine Maske sagt, welchen: Es behält alles davon.</translation>
  </message>
  <message>
   <source>{network} was not trained to paint a part: it follows all of {image}.</source>
   <translation>{network} wurde nicht dafür trainiert, einen Teil zu malen: Es folgt dem ganzen Bild {image}.</translation>
  </message>
  <message>
   <source>{node} may not be opened: add yourself to the group render and log in again</source>
   <translation>{node} darf nicht geöffnet werden: sich in die Gruppe render eintragen und neu anmelden</translation>
  </message>
  <message>
   <source>{n} min</source>
   <translation>{n} min</translation>
  </message>
  <message>
   <source>{n} s</source>
   <translation>{n} s</translation>
  </message>
  <message>
   <source>{n}%</source>
   <translation>{n} %</translation>
  </message>
  <message>
   <source>{other} could not be prepared</source>
   <translation>{other} konnte nicht vorbereitet werden</translation>
  </message>
  <message>
   <source>{other} failed in an earlier job</source>
   <translation>{other} hat bei einem früheren Bild versagt</translation>
  </message>
  <message>
   <source>{other} failed in this job</source>
   <translation>{other} ist bei diesem Auftrag ausgefallen</translation>
  </message>
  <message>
   <source>{other} is being prepared</source>
   <translation>{other} wird gerade vorbereitet</translation>
  </message>
  <message>
   <source>{other} lacks the memory for this job</source>
   <translation>{other} hat nicht genug Speicher für diesen Auftrag</translation>
  </message>
  <message>
   <source>{parent}/{file} asks for what this version does not run: {names}.</source>
   <translation>{parent}/{file} verlangt, was diese Version nicht kann: {names}.</translation>
  </message>
  <message>
   <source>{parent}/{file} says {stated}, but the weights have {found}.</source>
   <translation>{parent}/{file} nennt {stated}, aber die Gewichte haben {found}.</translation>
  </message>
  <message>
   <source>{parent}/{folder} has {has}; {stem}.safetensors is needed.</source>
   <translation>{parent}/{folder} enthält {has}; gebraucht wird {stem}.safetensors.</translation>
  </message>
  <message>
   <source>{parent}/{path} is damaged: {what}.</source>
   <translation>{parent}/{path} ist beschädigt: {what}.</translation>
  </message>
  <message>
   <source>{part:.1f} of {whole:.1f} {unit}</source>
   <translation>{part:.1f} von {whole:.1f} {unit}</translation>
  </message>
  <message>
   <source>{part} from {file}: {evidence}</source>
   <translation>{part} aus {file}: {evidence}</translation>
  </message>
  <message>
   <source>{part} in {tag} has no effect: {why}.</source>
   <translation>{part} in {tag} wirkt nicht: {why}.</translation>
  </message>
  <message>
   <source>{part} left out: not of {family}</source>
   <translation>{part} weggelassen: gehört nicht zu {family}</translation>
  </message>
  <message>
   <source>{part} of {whole} bytes</source>
   <translation>{part} von {whole} Byte</translation>
  </message>
  <message>
   <source>{path} bundles embeddings, for which a checkpoint has no place: {names}.</source>
   <translation>{path} enthält Embeddings, für die ein Checkpoint keinen Platz hat: {names}.</translation>
  </message>
  <message>
   <source>{path} cannot be read: {reason}.</source>
   <translation>{path} kann nicht gelesen werden: {reason}.</translation>
  </message>
  <message>
   <source>{path} cannot be taken for {title}: {reason}.</source>
   <translation>{path} kann nicht als {title} gelten: {reason}.</translation>
  </message>
  <message>
   <source>{path} cannot be used as an image prompt adapter. {why}</source>
   <translation>{path} kann nicht als Bild-Prompt-Adapter verwendet werden. {why}</translation>
  </message>
  <message>
   <source>{path} cannot be used for this: {what}.</source>
   <translation>{path} ist hierfür nicht zu gebrauchen: {what}.</translation>
  </message>
  <message>
   <source>{path} cannot be used: {reason}.</source>
   <translation>{path} kann nicht verwendet werden: {reason}.</translation>
  </message>
  <message>
   <source>{path} cannot be written.</source>
   <translation>{path} kann nicht geschrieben werden.</translation>
  </message>
  <message>
   <source>{path} cannot draw on latents of {path_2}: they are of another family.</source>
   <translation>{path} kann nicht auf Latents von {path_2} zeichnen: Sie sind von einer anderen Familie.</translation>
  </message>
  <message>
   <source>{path} cannot refine pictures of {path_2}: {why}.</source>
   <translation>{path} kann Bilder von {path_2} nicht verfeinern: {why}.</translation>
  </message>
  <message>
   <source>{path} cannot supply the {label}: {why}.</source>
   <translation>{path} kann diesen Teil nicht liefern ({label}): {why}.</translation>
  </message>
  <message>
   <source>{path} changed while it was read.</source>
   <translation>{path} hat sich beim Lesen geändert.</translation>
  </message>
  <message>
   <source>{path} changes {count} weights that this model lacks.</source>
   <translation>{path} ändert {count} Gewichte, die diesem Modell fehlen.</translation>
  </message>
  <message>
   <source>{path} edits a picture</source>
   <translation>{path} verändert ein Bild</translation>
  </message>
  <message>
   <source>{path} edits a picture, and draws none twice.</source>
   <translation>{path} bearbeitet ein Bild und zeichnet keines zweimal.</translation>
  </message>
  <message>
   <source>{path} ends within its header, after {amount}.</source>
   <translation>{path} endet mitten im Kopf, nach {amount}.</translation>
  </message>
  <message>
   <source>{path} follows a map, and there is none.</source>
   <translation>{path} folgt einer Karte, und es gibt keine.</translation>
  </message>
  <message>
   <source>{path} follows its map in the whole picture.</source>
   <translation>{path} folgt seiner Karte im ganzen Bild.</translation>
  </message>
  <message>
   <source>{path} follows one map at a time.</source>
   <translation>{path} folgt nur einer Karte auf einmal.</translation>
  </message>
  <message>
   <source>{path} has no {names}.</source>
   <translation>In {path} fehlt: {names}.</translation>
  </message>
  <message>
   <source>{path} has two weights in one place, and a LoRA changes one of them.</source>
   <translation>{path} hat zwei Gewichte an einer Stelle, und eine LoRA ändert eines davon.</translation>
  </message>
  <message>
   <source>{path} is Flux.1 with {more} channels more. It is not run yet.</source>
   <translation>{path} ist Flux.1 mit {more} Kanälen mehr. Es läuft noch nicht.</translation>
  </message>
  <message>
   <source>{path} is a ControlNet of a kind that is not run.</source>
   <translation>{path} ist ein ControlNet einer Art, die nicht ausgeführt wird.</translation>
  </message>
  <message>
   <source>{path} is a DoRA that was trained by the lengths of outputs, and this convention's tool measures inputs.</source>
   <translation>{path} ist eine DoRA, die nach den Längen der Ausgänge trainiert wurde; das nachgeahmte Programm misst die Eingänge.</translation>
  </message>
  <message>
   <source>{path} is a GGUF file, which LoRAs cannot be written into.</source>
   <translation>{path} ist eine GGUF-Datei, in die keine LoRAs geschrieben werden können.</translation>
  </message>
  <message>
   <source>{path} is a folder, not the file of an upscaler.</source>
   <translation>{path} ist ein Ordner und nicht die Datei eines Upscalers.</translation>
  </message>
  <message>
   <source>{path} is a folder; only a single file has a hash.</source>
   <translation>{path} ist ein Ordner; nur eine einzelne Datei hat einen Hash.</translation>
  </message>
  <message>
   <source>{path} is a model of {family}, not a control network.</source>
   <translation>{path} ist ein Modell von {family}, kein Steuernetz.</translation>
  </message>
  <message>
   <source>{path} is a model of {family}, not an upscaler.</source>
   <translation>{path} ist ein Modell für {family}, kein Upscaler.</translation>
  </message>
  <message>
   <source>{path} is a zip archive that holds {name}.</source>
   <translation>{path} ist ein ZIP-Archiv mit {name}.</translation>
  </message>
  <message>
   <source>{path} is a zip archive, but no checkpoint of PyTorch's: {reason}.</source>
   <translation>{path} ist ein ZIP-Archiv, aber kein Checkpoint von PyTorch: {reason}.</translation>
  </message>
  <message>
   <source>{path} is an upscaler of a kind that is not run.</source>
   <translation>{path} ist ein Upscaler von einer Art, die hier nicht läuft.</translation>
  </message>
  <message>
   <source>{path} is damaged, or another file of that name: its hash differs.</source>
   <translation>{path} ist beschädigt oder eine andere Datei dieses Namens: Der Hash weicht ab.</translation>
  </message>
  <message>
   <source>{path} is damaged: {reason}.</source>
   <translation>{path} ist beschädigt: {reason}.</translation>
  </message>
  <message>
   <source>{path} is damaged: {what}.</source>
   <translation>{path} ist beschädigt: {what}.</translation>
  </message>
  <message>
   <source>{path} is empty.</source>
   <translation>{path} ist leer.</translation>
  </message>
  <message>
   <source>{path} is for a UNet of other sizes than that of {checkpoint}.</source>
   <translation>{path} ist für ein UNet anderer Größe als das von {checkpoint}.</translation>
  </message>
  <message>
   <source>{path} is for a transformer of other sizes than that of {checkpoint}.</source>
   <translation>{path} ist für einen Transformer mit anderen Maßen als denen von {checkpoint}.</translation>
  </message>
  <message>
   <source>{path} is incomplete: the file is {of}.</source>
   <translation>{path} ist unvollständig: Die Datei hat {of}.</translation>
  </message>
  <message>
   <source>{path} is larger than {size} MiB</source>
   <translation>{path} ist größer als {size} MiB</translation>
  </message>
  <message>
   <source>{path} is no CLIP vision encoder.</source>
   <translation>{path} ist kein Bild-Encoder von CLIP.</translation>
  </message>
  <message>
   <source>{path} is no file of weights that makes maps.</source>
   <translation>{path} ist keine Datei mit Gewichten, die Karten macht.</translation>
  </message>
  <message>
   <source>{path} is no part of this runtime pack on this system.</source>
   <translation>{path} gehört auf diesem System nicht zu diesem Laufzeitpaket.</translation>
  </message>
  <message>
   <source>{path} is no textual inversion: {reason}.</source>
   <translation>{path} ist keine Textual Inversion: {reason}.</translation>
  </message>
  <message>
   <source>{path} is not a control network this version knows.</source>
   <translation>{path} ist kein Steuernetz, das diese Version kennt.</translation>
  </message>
  <message>
   <source>{path} is not a file.</source>
   <translation>{path} ist keine Datei.</translation>
  </message>
  <message>
   <source>{path} is not a model this version knows.</source>
   <translation>{path} ist kein Modell, das diese Version kennt.</translation>
  </message>
  <message>
   <source>{path} is not a {kind}.</source>
   <translation>{path} ist kein gültiges Modell: {kind}.</translation>
  </message>
  <message>
   <source>{path} is not an upscaler this version knows.</source>
   <translation>{path} ist kein Upscaler, den diese Version kennt.</translation>
  </message>
  <message>
   <source>{path} is not in {parent}.</source>
   <translation>{path} ist nicht in {parent}.</translation>
  </message>
  <message>
   <source>{path} is not run: it ends the program that runs it.</source>
   <translation>{path} wird nicht ausgeführt: Die Datei beendet das Programm, das sie ausführt.</translation>
  </message>
  <message>
   <source>{path} is not the upscaler that it seems to be: {what}.</source>
   <translation>{path} ist nicht der Upscaler, der die Datei zu sein scheint: {what}.</translation>
  </message>
  <message>
   <source>{path} is one of {parts} parts of a model.</source>
   <translation>{path} ist einer von {parts} Teilen eines Modells.</translation>
  </message>
  <message>
   <source>{path} is stored as int8, which LoRAs cannot be written into.</source>
   <translation>{path} ist als int8 gespeichert, in das LoRAs nicht geschrieben werden können.</translation>
  </message>
  <message>
   <source>{path} is used, so the picture may become another one.</source>
   <translation>{path} wird verwendet, also kann ein anderes Bild entstehen.</translation>
  </message>
  <message>
   <source>{path} is {title}, but {checkpoint} is of {family}.</source>
   <translation>{path} ist {title}, aber {checkpoint} gehört zu {family}.</translation>
  </message>
  <message>
   <source>{path} is {title}, not a control network.</source>
   <translation>{path} ist {title}, kein Steuernetz.</translation>
  </message>
  <message>
   <source>{path} is {title}, not a model.</source>
   <translation>{path} ist {title}, kein Modell.</translation>
  </message>
  <message>
   <source>{path} is {title}, not an upscaler.</source>
   <translation>{path} ist {title}, kein Upscaler.</translation>
  </message>
  <message>
   <source>{path} is {title}, which acts on the whole picture.</source>
   <translation>{path} ist {title} und wirkt auf das ganze Bild.</translation>
  </message>
  <message>
   <source>{path} is {title}, which is not run yet.</source>
   <translation>{path} ist {title}, womit noch nicht gerechnet wird.</translation>
  </message>
  <message>
   <source>{path} is {what}.</source>
   <translation>{path} ist {what}.</translation>
  </message>
  <message>
   <source>{path} is {width} wide, which {parts} {what} do not divide.</source>
   <translation>{path} ist {width} breit, was {parts} {what} nicht teilen.</translation>
  </message>
  <message>
   <source>{path} is {words}, but none of its layers is in this model.</source>
   <translation>{path} ist {words}, aber keine der Schichten ist in diesem Modell.</translation>
  </message>
  <message>
   <source>{path} is {words}, not a LoRA.</source>
   <translation>{path} ist {words}, keine LoRA.</translation>
  </message>
  <message>
   <source>{path} is {words}, not for this model ({family}).</source>
   <translation>{path} ist {words}, nicht für dieses Modell ({family}).</translation>
  </message>
  <message>
   <source>{path} makes a model follow a map, which {checkpoint} cannot do here.</source>
   <translation>{path} lässt ein Modell einer Karte folgen, was {checkpoint} hier nicht kann.</translation>
  </message>
  <message>
   <source>{path} names files that are not beside it.</source>
   <translation>{path} nennt Dateien, die nicht daneben liegen.</translation>
  </message>
  <message>
   <source>{path} needs a second file beside it.</source>
   <translation>{path} braucht eine zweite Datei daneben.</translation>
  </message>
  <message>
   <source>{path} stores {name} in an order of its own, in which only upscalers and checkpoints are read.</source>
   <translation>{path} speichert {name} in einer eigenen Reihenfolge, in der nur Upscaler und Checkpoints gelesen werden.</translation>
  </message>
  <message>
   <source>{path} stores {name} in blocks of the type {kind}, which this version does not read.</source>
   <translation>{path} speichert {name} in Blöcken vom Typ {kind}, den diese Version nicht liest.</translation>
  </message>
  <message>
   <source>{path} stores {quoted} in the number format {quoted_2}, which this version does not know.</source>
   <translation>{path} speichert {quoted} im Zahlenformat {quoted_2}, das diese Version nicht kennt.</translation>
  </message>
  <message>
   <source>{path} takes at most {most} reference pictures.</source>
   <translation>{path} nimmt höchstens {most} Referenzbilder.</translation>
  </message>
  <message>
   <source>{path} takes no reference pictures.</source>
   <translation>{path} nimmt keine Referenzbilder.</translation>
  </message>
  <message>
   <source>{path} was found by its hash, not by its name.</source>
   <translation>{path} wurde am Hash erkannt, nicht am Namen.</translation>
  </message>
  <message>
   <source>{path} was not opened: it asks for {name}.</source>
   <translation>{path} wurde nicht geöffnet: Die Datei verlangt {name}.</translation>
  </message>
  <message>
   <source>{path} was not trained on maps of the kind {kind!r}.</source>
   <translation>{path} wurde nicht mit Karten der Art {kind!r} trainiert.</translation>
  </message>
  <message>
   <source>{prediction} because {reason}</source>
   <translation>{prediction}, denn {reason}</translation>
  </message>
  <message>
   <source>{problem} {device} goes on with what is left.</source>
   <translation>{problem} {device} macht mit dem Übrigen weiter.</translation>
  </message>
  <message>
   <source>{quoted} is computed twice</source>
   <translation>{quoted} wird doppelt berechnet</translation>
  </message>
  <message>
   <source>{quoted} is read before it is computed</source>
   <translation>{quoted} wird gelesen, bevor es berechnet ist</translation>
  </message>
  <message>
   <source>{ratio}x faster than {other} here</source>
   <translation>hier {ratio}-mal so schnell wie {other}</translation>
  </message>
  <message>
   <source>{sign} in the prompt is no wildcard here; it was drawn as words.</source>
   <translation>{sign} im Prompt ist hier kein Platzhalter; es wurde wörtlich gezeichnet.</translation>
  </message>
  <message>
   <source>{size:.1f} {unit}</source>
   <translation>{size:.1f} {unit}</translation>
  </message>
  <message>
   <source>{sizes} sizes beside it in {numbers} numbers</source>
   <translation>{sizes} Größen daneben in {numbers} Zahlen</translation>
  </message>
  <message>
   <source>{size} bytes</source>
   <translation>{size} Byte</translation>
  </message>
  <message>
   <source>{tag} in the prompt: the picture is made without it: {why}.</source>
   <translation>{tag} im Prompt: Das Bild entsteht ohne sie: {why}.</translation>
  </message>
  <message>
   <source>{target} cannot be written to {parent}: {reason}.</source>
   <translation>{target} kann nicht nach {parent} geschrieben werden: {reason}.</translation>
  </message>
  <message>
   <source>{target} {reason}.</source>
   <translation>{target}: {reason}.</translation>
  </message>
  <message>
   <source>{text!r} is no number</source>
   <translation>{text!r} ist keine Zahl</translation>
  </message>
  <message>
   <source>{text!r} is no number of ranks</source>
   <translation>{text!r} ist keine Zahl von Rängen</translation>
  </message>
  <message>
   <source>{text!r} is no number of steps</source>
   <translation>{text!r} ist keine Zahl von Schritten</translation>
  </message>
  <message>
   <source>{text!r} is no rule of blocks, elements and a weight</source>
   <translation>{text!r} ist keine Regel aus Blöcken, Elementen und einem Gewicht</translation>
  </message>
  <message>
   <source>{text!r} is no strength at a place</source>
   <translation>{text!r} ist keine Stärke an einer Stelle</translation>
  </message>
  <message>
   <source>{text!r} is no weight</source>
   <translation>{text!r} ist kein Gewicht</translation>
  </message>
  <message>
   <source>{text} is not from {low} to {high}</source>
   <translation>{text} liegt nicht zwischen {low} und {high}</translation>
  </message>
  <message>
   <source>{times} {message}</source>
   <translation>{times} {message}</translation>
  </message>
  <message>
   <source>{title} cannot be installed here. {reason}</source>
   <translation>{title} kann hier nicht installiert werden. {reason}</translation>
  </message>
  <message>
   <source>{title} does not work here and is not used. {sentence}</source>
   <translation>{title} funktioniert hier nicht und wird nicht verwendet. {sentence}</translation>
  </message>
  <message>
   <source>{title} makes those that come after it.</source>
   <translation>{title} erzeugt die Bilder danach.</translation>
  </message>
  <message>
   <source>{title} needs a file of its own weights.</source>
   <translation>{title} braucht eine Datei mit eigenen Gewichten.</translation>
  </message>
  <message>
   <source>{title} needs no file.</source>
   <translation>{title} braucht keine Datei.</translation>
  </message>
  <message>
   <source>{unblock} {kept}</source>
   <translation>{unblock} {kept}</translation>
  </message>
  <message>
   <source>{variable} hides it</source>
   <translation>durch {variable} ausgeblendet</translation>
  </message>
  <message>
   <source>{wheel} is not installed: {reason}.</source>
   <translation>{wheel} ist nicht installiert: {reason}.</translation>
  </message>
  <message>
   <source>{why}, and there is none.</source>
   <translation>{why}, und es gibt keines.</translation>
  </message>
  <message>
   <source>{width} wide</source>
   <translation>{width} breit</translation>
  </message>
  <message>
   <source>“{words}”</source>
   <translation>„{words}“</translation>
  </message>
 </context>
 <context>
  <name>errors</name>
  <message>
   <source>A LoRA acts in another way than was meant</source>
   <translation>Eine LoRA wirkt anders als gedacht</translation>
  </message>
  <message>
   <source>A LoRA was not found</source>
   <translation>Eine LoRA wurde nicht gefunden</translation>
  </message>
  <message>
   <source>A driver or a runtime may be missing.</source>
   <translation>Vielleicht fehlt ein Treiber oder eine Laufzeit.</translation>
  </message>
  <message>
   <source>A file is damaged</source>
   <translation>Eine Datei ist beschädigt</translation>
  </message>
  <message>
   <source>A picture cannot be read</source>
   <translation>Ein Bild ist nicht lesbar</translation>
  </message>
  <message>
   <source>A setting does not fit</source>
   <translation>Eine Einstellung passt nicht</translation>
  </message>
  <message>
   <source>A smaller picture needs less; so do fewer open programs.</source>
   <translation>Ein kleineres Bild braucht weniger; auch andere Programme zu schließen hilft.</translation>
  </message>
  <message>
   <source>An embedding acts in another way than was meant</source>
   <translation>Ein Embedding wirkt anders als gedacht</translation>
  </message>
  <message>
   <source>Cancelled</source>
   <translation>Abgebrochen</translation>
  </message>
  <message>
   <source>Change it in the form, then make the picture again.</source>
   <translation>Im Formular ändern, dann das Bild neu erzeugen.</translation>
  </message>
  <message>
   <source>Choose the picture to start from again.</source>
   <translation>Das Ausgangsbild neu wählen.</translation>
  </message>
  <message>
   <source>Copy the report and send it to us; then try again.</source>
   <translation>Den Bericht kopieren und uns schicken; dann erneut versuchen.</translation>
  </message>
  <message>
   <source>Finished pictures are safe.</source>
   <translation>Fertige Bilder sind sicher.</translation>
  </message>
  <message>
   <source>Free some space on its disk.</source>
   <translation>Auf ihrem Datenträger Platz schaffen.</translation>
  </message>
  <message>
   <source>Free some space, or use another disk.</source>
   <translation>Platz schaffen oder einen anderen Datenträger nehmen.</translation>
  </message>
  <message>
   <source>Get the file again; nothing else can mend it.</source>
   <translation>Die Datei neu beschaffen; anders lässt sie sich nicht reparieren.</translation>
  </message>
  <message>
   <source>Install Safelight again.</source>
   <translation>Safelight neu installieren.</translation>
  </message>
  <message>
   <source>It is of a kind that this version does not know.</source>
   <translation>Diese Version kennt seine Art nicht.</translation>
  </message>
  <message>
   <source>It, its driver or its runtime made a mistake.</source>
   <translation>Das Gerät, sein Treiber oder seine Laufzeit hat einen Fehler gemacht.</translation>
  </message>
  <message>
   <source>Its disk may be away, or another program may be using it.</source>
   <translation>Vielleicht fehlt sein Datenträger, oder ein anderes Programm benutzt es.</translation>
  </message>
  <message>
   <source>LoRAs take longer on this device</source>
   <translation>LoRAs dauern auf diesem Gerät länger</translation>
  </message>
  <message>
   <source>Many websites take the settings out of pictures.</source>
   <translation>Viele Websites entfernen die Einstellungen aus Bildern.</translation>
  </message>
  <message>
   <source>Models are .safetensors, .gguf or .ckpt files, or folders.</source>
   <translation>Modelle sind .safetensors-, .gguf- oder .ckpt-Dateien, oder Ordner.</translation>
  </message>
  <message>
   <source>Name the folder that has it, or take it out.</source>
   <translation>Den Ordner nennen, in dem es liegt, oder es weglassen.</translation>
  </message>
  <message>
   <source>Not enough memory</source>
   <translation>Nicht genug Speicher</translation>
  </message>
  <message>
   <source>Nothing can be written there</source>
   <translation>Dort lässt sich nichts schreiben</translation>
  </message>
  <message>
   <source>Nothing went wrong.</source>
   <translation>Es ist nichts schiefgegangen.</translation>
  </message>
  <message>
   <source>Parts of Safelight are of different versions</source>
   <translation>Teile von Safelight haben verschiedene Versionen</translation>
  </message>
  <message>
   <source>Parts of Safelight do not understand each other</source>
   <translation>Teile von Safelight verstehen einander nicht</translation>
  </message>
  <message>
   <source>Pictures and models are safe.</source>
   <translation>Bilder und Modelle sind sicher.</translation>
  </message>
  <message>
   <source>Pictures are safe; what waited may be lost.</source>
   <translation>Bilder sind sicher; was wartete, kann verloren sein.</translation>
  </message>
  <message>
   <source>Pictures are the same; only the way to them is another.</source>
   <translation>Die Bilder sind dieselben; nur der Weg zu ihnen ist ein anderer.</translation>
  </message>
  <message>
   <source>Safelight cannot use this model</source>
   <translation>Safelight kann dieses Modell nicht verwenden</translation>
  </message>
  <message>
   <source>Safelight made a mistake</source>
   <translation>Safelight hat einen Fehler gemacht</translation>
  </message>
  <message>
   <source>Safelight's engine does not start</source>
   <translation>Die Engine von Safelight startet nicht</translation>
  </message>
  <message>
   <source>Safelight's engine ended unexpectedly</source>
   <translation>Die Engine von Safelight wurde unerwartet beendet</translation>
  </message>
  <message>
   <source>Say where its file is now, or choose another model.</source>
   <translation>Sagen, wo die Datei jetzt liegt, oder ein anderes Modell wählen.</translation>
  </message>
  <message>
   <source>Something is asked for that this Safelight cannot do.</source>
   <translation>Verlangt ist etwas, das dieses Safelight nicht kann.</translation>
  </message>
  <message>
   <source>Something is being prepared</source>
   <translation>Etwas wird gerade vorbereitet</translation>
  </message>
  <message>
   <source>Something that was kept could not be read</source>
   <translation>Etwas Gespeichertes war nicht lesbar</translation>
  </message>
  <message>
   <source>Take it out, or choose the model that it is for.</source>
   <translation>Es weglassen oder das Modell wählen, für das es gemacht ist.</translation>
  </message>
  <message>
   <source>That is not possible here</source>
   <translation>Das ist hier nicht möglich</translation>
  </message>
  <message>
   <source>The LoRA is for other models</source>
   <translation>Die LoRA ist für andere Modelle</translation>
  </message>
  <message>
   <source>The cache cannot be written</source>
   <translation>Der Zwischenspeicher lässt sich nicht schreiben</translation>
  </message>
  <message>
   <source>The cache was damaged</source>
   <translation>Der Zwischenspeicher war beschädigt</translation>
  </message>
  <message>
   <source>The device cannot be used</source>
   <translation>Das Gerät lässt sich nicht verwenden</translation>
  </message>
  <message>
   <source>The device failed</source>
   <translation>Das Gerät hat versagt</translation>
  </message>
  <message>
   <source>The disk is full</source>
   <translation>Der Datenträger ist voll</translation>
  </message>
  <message>
   <source>The folder may be protected, or its disk may be away.</source>
   <translation>Vielleicht ist der Ordner geschützt, oder sein Datenträger fehlt.</translation>
  </message>
  <message>
   <source>The model cannot be read</source>
   <translation>Das Modell ist nicht lesbar</translation>
  </message>
  <message>
   <source>The model is not where it was</source>
   <translation>Das Modell liegt nicht mehr dort</translation>
  </message>
  <message>
   <source>The model lacks a part</source>
   <translation>Dem Modell fehlt ein Teil</translation>
  </message>
  <message>
   <source>The model's file is incomplete</source>
   <translation>Die Modelldatei ist unvollständig</translation>
  </message>
  <message>
   <source>The numbers of this model got out of hand.</source>
   <translation>Die Zahlen dieses Modells sind entgleist.</translation>
  </message>
  <message>
   <source>The part can be taken from another file.</source>
   <translation>Der Teil kann aus einer anderen Datei genommen werden.</translation>
  </message>
  <message>
   <source>The picture came out empty</source>
   <translation>Das Bild ist leer geblieben</translation>
  </message>
  <message>
   <source>The picture does not say how it was made</source>
   <translation>Das Bild sagt nicht, wie es gemacht wurde</translation>
  </message>
  <message>
   <source>The picture was made all the same.</source>
   <translation>Das Bild wurde trotzdem gemacht.</translation>
  </message>
  <message>
   <source>The queue could not be read</source>
   <translation>Die Warteschlange war nicht lesbar</translation>
  </message>
  <message>
   <source>The settings could not be used</source>
   <translation>Die Einstellungen konnten nicht verwendet werden</translation>
  </message>
  <message>
   <source>The settings name a device that this Safelight lacks.</source>
   <translation>Die Einstellungen nennen ein Gerät, das dieses Safelight nicht hat.</translation>
  </message>
  <message>
   <source>There is no such device</source>
   <translation>Dieses Gerät gibt es nicht</translation>
  </message>
  <message>
   <source>These files do not go together</source>
   <translation>Diese Dateien passen nicht zusammen</translation>
  </message>
  <message>
   <source>They were made for different models.</source>
   <translation>Sie sind für verschiedene Modelle gemacht.</translation>
  </message>
  <message>
   <source>This file is no model</source>
   <translation>Diese Datei ist kein Modell</translation>
  </message>
  <message>
   <source>Try again; if it comes back, install Safelight again.</source>
   <translation>Erneut versuchen; kommt es wieder, Safelight neu installieren.</translation>
  </message>
  <message>
   <source>Wait until it has finished.</source>
   <translation>Warten, bis es fertig ist.</translation>
  </message>
  <message>
   <source>Wait until its download has finished, or get it again.</source>
   <translation>Warten, bis der Download fertig ist, oder sie neu beschaffen.</translation>
  </message>
  <message>
   <source>What was damaged is made anew.</source>
   <translation>Was beschädigt war, wird neu gemacht.</translation>
  </message>
  <message>
   <source>Without it no picture can be made.</source>
   <translation>Ohne sie lässt sich kein Bild erzeugen.</translation>
  </message>
 </context>
 <context>
  <name>facts</name>
  <message>
   <source>Control layers</source>
   <translation>Steuerebenen</translation>
  </message>
  <message>
   <source>Device</source>
   <translation>Gerät</translation>
  </message>
  <message>
   <source>Different</source>
   <translation>Verschieden</translation>
  </message>
  <message>
   <source>Embeddings</source>
   <translation>Embeddings</translation>
  </message>
  <message>
   <source>File</source>
   <translation>Datei</translation>
  </message>
  <message>
   <source>Guidance</source>
   <translation>Guidance</translation>
  </message>
  <message>
   <source>Image guidance</source>
   <translation>Bild-Guidance</translation>
  </message>
  <message>
   <source>Image prompts</source>
   <translation>Bild-Prompts</translation>
  </message>
  <message>
   <source>LoRAs</source>
   <translation>LoRAs</translation>
  </message>
  <message>
   <source>Made by</source>
   <translation>Erzeugt mit</translation>
  </message>
  <message>
   <source>Made with</source>
   <translation>Erzeugt mit</translation>
  </message>
  <message>
   <source>Mask</source>
   <translation>Maske</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>Model hash</source>
   <translation>Modell-Hash</translation>
  </message>
  <message>
   <source>Model stated as</source>
   <translation>Modell angegeben als</translation>
  </message>
  <message>
   <source>Negative prompt</source>
   <translation>Negativer Prompt</translation>
  </message>
  <message>
   <source>Options</source>
   <translation>Optionen</translation>
  </message>
  <message>
   <source>Prompt</source>
   <translation>Prompt</translation>
  </message>
  <message>
   <source>Rating</source>
   <translation>Bewertung</translation>
  </message>
  <message>
   <source>Redrawn part</source>
   <translation>Neu gezeichneter Teil</translation>
  </message>
  <message>
   <source>Reference picture</source>
   <translation>Referenzbild</translation>
  </message>
  <message>
   <source>Refiner</source>
   <translation>Refiner</translation>
  </message>
  <message>
   <source>Results as in</source>
   <translation>Ergebnisse wie in</translation>
  </message>
  <message>
   <source>Sampler</source>
   <translation>Sampler</translation>
  </message>
  <message>
   <source>Saved</source>
   <translation>Gespeichert</translation>
  </message>
  <message>
   <source>Schedule</source>
   <translation>Zeitplan</translation>
  </message>
  <message>
   <source>Second passes</source>
   <translation>Zweite Durchgänge</translation>
  </message>
  <message>
   <source>Seed</source>
   <translation>Seed</translation>
  </message>
  <message>
   <source>Size</source>
   <translation>Größe</translation>
  </message>
  <message>
   <source>Start picture</source>
   <translation>Ausgangsbild</translation>
  </message>
  <message>
   <source>Steps</source>
   <translation>Schritte</translation>
  </message>
  <message>
   <source>Strength</source>
   <translation>Stärke</translation>
  </message>
  <message>
   <source>Time taken</source>
   <translation>Benötigte Zeit</translation>
  </message>
  <message>
   <source>Together</source>
   <translation>Zusammen</translation>
  </message>
  <message>
   <source>Upscaled by</source>
   <translation>Vergrößert mit</translation>
  </message>
  <message>
   <source>and {n} more</source>
   <translation>und {n} weitere</translation>
  </message>
  <message>
   <source>begins with: {content}</source>
   <translation>beginnt mit: {content}</translation>
  </message>
  <message>
   <source>faded over {n}</source>
   <translation>Übergang {n}</translation>
  </message>
  <message>
   <source>from {start} to {end} % of the steps</source>
   <translation>von {start} bis {end} % der Schritte</translation>
  </message>
  <message>
   <source>grown by {left} left, {top} at the top, {right} right, {bottom} at the bottom</source>
   <translation>gewachsen um {left} links, {top} oben, {right} rechts, {bottom} unten</translation>
  </message>
  <message>
   <source>in tiles of {n}</source>
   <translation>in Kacheln von {n}</translation>
  </message>
  <message>
   <source>inverted</source>
   <translation>umgekehrt</translation>
  </message>
  <message>
   <source>only the part, with a margin of {n}</source>
   <translation>nur der Teil, mit einem Rand von {n}</translation>
  </message>
  <message>
   <source>soft edge {n}</source>
   <translation>weichgezeichnet um {n}</translation>
  </message>
  <message>
   <source>strength {n}</source>
   <translation>Stärke {n}</translation>
  </message>
  <message>
   <source>weight {n}</source>
   <translation>Gewicht {n}</translation>
  </message>
  <message>
   <source>within {mask}</source>
   <translation>innerhalb von {mask}</translation>
  </message>
  <message>
   <source>{factor} times</source>
   <translation>{factor}-fach</translation>
  </message>
  <message>
   <source>{first} to {last}</source>
   <translation>{first} bis {last}</translation>
  </message>
  <message>
   <source>{lora}, not found</source>
   <translation>{lora}, nicht gefunden</translation>
  </message>
  <message>
   <source>{lora}, {n} on the text</source>
   <translation>{lora}, {n} auf den Text</translation>
  </message>
  <message>
   <source>{n} high</source>
   <translation>{n} hoch</translation>
  </message>
  <message>
   <source>{n} wide</source>
   <translation>{n} breit</translation>
  </message>
  <message>
   <source>{pictures} of {n} that are chosen</source>
   <translation>{pictures} von {n} gewählten</translation>
  </message>
  <message>
   <source>{refiner}, from {start} % of the steps</source>
   <translation>{refiner}, ab {start} % der Schritte</translation>
  </message>
 </context>
 <context>
  <name>faults</name>
  <message>
   <source>Copy the report and send it to us; then try again.</source>
   <translation>Den Bericht kopieren und uns senden; dann noch einmal versuchen.</translation>
  </message>
  <message>
   <source>Something went wrong inside Safelight.</source>
   <translation>In Safelight ist etwas schiefgegangen.</translation>
  </message>
 </context>
 <context>
  <name>files</name>
  <message>
   <source>Computer</source>
   <translation>Computer</translation>
  </message>
  <message>
   <source>Desktop</source>
   <translation>Schreibtisch</translation>
  </message>
  <message>
   <source>Documents</source>
   <translation>Dokumente</translation>
  </message>
  <message>
   <source>Downloads</source>
   <translation>Downloads</translation>
  </message>
  <message>
   <source>Home</source>
   <translation>Persönlicher Ordner</translation>
  </message>
  <message>
   <source>It is looked for among your files.</source>
   <translation>Er wird unter Ihren Dateien gesucht.</translation>
  </message>
  <message>
   <source>It was trained to follow such a map, and needs no network.</source>
   <translation>Es wurde darauf trainiert, einer solchen Karte zu folgen, und braucht kein Netz.</translation>
  </message>
  <message>
   <source>Models ({endings});;All files (*)</source>
   <translation>Modelle ({endings});;Alle Dateien (*)</translation>
  </message>
  <message>
   <source>No program on this computer shows folders.</source>
   <translation>Kein Programm auf diesem Computer zeigt Ordner.</translation>
  </message>
  <message>
   <source>None yet</source>
   <translation>Noch keines</translation>
  </message>
  <message>
   <source>Not for this model</source>
   <translation>Nicht für dieses Modell</translation>
  </message>
  <message>
   <source>Pictures</source>
   <translation>Bilder</translation>
  </message>
  <message>
   <source>Pictures ({endings})</source>
   <translation>Bilder ({endings})</translation>
  </message>
  <message>
   <source>The fitting one</source>
   <translation>Der passende</translation>
  </message>
  <message>
   <source>The model itself</source>
   <translation>Das Modell selbst</translation>
  </message>
  <message>
   <source>The picture itself</source>
   <translation>Das Bild selbst</translation>
  </message>
  <message>
   <source>The same model</source>
   <translation>Dasselbe Modell</translation>
  </message>
  <message>
   <source>Your upscalers</source>
   <translation>Ihre Upscaler</translation>
  </message>
 </context>
 <context>
  <name>first_models</name>
  <message>
   <source>A LoRA that draws in 4 to 8 steps in place of 20 to 30.</source>
   <translation>Eine LoRA, die in 4 bis 8 statt 20 bis 30 Schritten zeichnet.</translation>
  </message>
  <message>
   <source>An all-rounder for portraits, fantasy and illustration; small and quick.</source>
   <translation>Ein Allrounder für Porträts, Fantasy und Illustration; klein und schnell.</translation>
  </message>
  <message>
   <source>Anime and manga, by tags as on Danbooru.</source>
   <translation>Anime und Manga, mit Schlagwörtern wie auf Danbooru.</translation>
  </message>
  <message>
   <source>Larger pictures, and prompts are followed better; the base of many newer models.</source>
   <translation>Größere Bilder, und Prompts werden besser befolgt; die Grundlage vieler neuerer Modelle.</translation>
  </message>
  <message>
   <source>The plain base that thousands of LoRAs and embeddings were made for.</source>
   <translation>Die schlichte Grundlage, für die Tausende LoRAs und Embeddings gemacht wurden.</translation>
  </message>
 </context>
 <context>
  <name>gallery</name>
  <message>
   <source>1 picture</source>
   <translation>1 Bild</translation>
  </message>
  <message>
   <source>1 star</source>
   <translation>1 Stern</translation>
  </message>
  <message>
   <source>Choose another PNG, JPEG or WebP file.</source>
   <translation>Eine andere PNG-, JPEG- oder WebP-Datei wählen.</translation>
  </message>
  <message>
   <source>It is no PNG, JPEG or WebP.</source>
   <translation>Es ist kein PNG, JPEG oder WebP.</translation>
  </message>
  <message>
   <source>It is too large to be shown.</source>
   <translation>Es ist zu groß, um gezeigt zu werden.</translation>
  </message>
  <message>
   <source>It may not be read.</source>
   <translation>Es darf nicht gelesen werden.</translation>
  </message>
  <message>
   <source>Its folder cannot be reached.</source>
   <translation>Der Ordner ist nicht erreichbar.</translation>
  </message>
  <message>
   <source>No picture is chosen</source>
   <translation>Kein Bild ist gewählt</translation>
  </message>
  <message>
   <source>Problem</source>
   <translation>Problem</translation>
  </message>
  <message>
   <source>Reading pictures: {done} of {total}</source>
   <translation>Bilder werden gelesen: {done} von {total}</translation>
  </message>
  <message>
   <source>The file is damaged.</source>
   <translation>Die Datei ist beschädigt.</translation>
  </message>
  <message>
   <source>The file is empty.</source>
   <translation>Die Datei ist leer.</translation>
  </message>
  <message>
   <source>Today</source>
   <translation>Heute</translation>
  </message>
  <message>
   <source>Yesterday</source>
   <translation>Gestern</translation>
  </message>
  <message>
   <source>being read</source>
   <translation>wird gelesen</translation>
  </message>
  <message>
   <source>cannot be reached</source>
   <translation>nicht erreichbar</translation>
  </message>
  <message>
   <source>favourite</source>
   <translation>Favorit</translation>
  </message>
  <message>
   <source>made by {tool}</source>
   <translation>erzeugt mit {tool}</translation>
  </message>
  <message>
   <source>no stars</source>
   <translation>keine Sterne</translation>
  </message>
  <message>
   <source>read-only</source>
   <translation>schreibgeschützt</translation>
  </message>
  <message>
   <source>rejected</source>
   <translation>abgelehnt</translation>
  </message>
  <message>
   <source>waiting</source>
   <translation>wartet</translation>
  </message>
  <message>
   <source>{name} cannot be read as a picture.</source>
   <translation>{name} kann nicht als Bild gelesen werden.</translation>
  </message>
  <message>
   <source>{n} of {all}</source>
   <translation>{n} von {all}</translation>
  </message>
  <message>
   <source>{n} of {all} chosen</source>
   <translation>{n} von {all} gewählt</translation>
  </message>
  <message>
   <source>{n} pictures</source>
   <translation>{n} Bilder</translation>
  </message>
  <message>
   <source>{n} pictures are chosen</source>
   <translation>{n} Bilder sind gewählt</translation>
  </message>
  <message>
   <source>{n} stars</source>
   <translation>{n} Sterne</translation>
  </message>
 </context>
 <context>
  <name>labels</name>
  <message>
   <source>1 step</source>
   <translation>1 Schritt</translation>
  </message>
  <message>
   <source>A little softer than Lanczos.</source>
   <translation>Etwas weicher als Lanczos.</translation>
  </message>
  <message>
   <source>All text encoders</source>
   <translation>Alle Textencoder</translation>
  </message>
  <message>
   <source>Area</source>
   <translation>Fläche</translation>
  </message>
  <message>
   <source>Bicubic</source>
   <translation>Bikubisch</translation>
  </message>
  <message>
   <source>Bilinear</source>
   <translation>Bilinear</translation>
  </message>
  <message>
   <source>Decoding</source>
   <translation>Dekodieren</translation>
  </message>
  <message>
   <source>Developing</source>
   <translation>Entwickeln</translation>
  </message>
  <message>
   <source>Did you mean the embedding “{name}”?</source>
   <translation>Ist das Embedding „{name}“ gemeint?</translation>
  </message>
  <message>
   <source>Downloading</source>
   <translation>Wird heruntergeladen</translation>
  </message>
  <message>
   <source>EDM with v-prediction</source>
   <translation>EDM mit v-Vorhersage</translation>
  </message>
  <message>
   <source>Enlarging</source>
   <translation>Vergrößern</translation>
  </message>
  <message>
   <source>FreeU {freeu}</source>
   <translation>FreeU {freeu}</translation>
  </message>
  <message>
   <source>Lanczos</source>
   <translation>Lanczos</translation>
  </message>
  <message>
   <source>LoRAs: {lora_mode}</source>
   <translation>LoRAs: {lora_mode}</translation>
  </message>
  <message>
   <source>Means of whole pixels: for smaller pictures.</source>
   <translation>Mittelwerte ganzer Pixel: für kleinere Bilder.</translation>
  </message>
  <message>
   <source>Much less than its own {size}: it may draw badly.</source>
   <translation>Viel weniger als seine eigenen {size}: Es zeichnet vielleicht schlecht.</translation>
  </message>
  <message>
   <source>Much longer than wide: it may draw things twice.</source>
   <translation>Viel länger als breit: Es zeichnet vielleicht Dinge doppelt.</translation>
  </message>
  <message>
   <source>Much more than its own {size}: it may draw things twice.</source>
   <translation>Viel mehr als seine eigenen {size}: Es zeichnet vielleicht Dinge doppelt.</translation>
  </message>
  <message>
   <source>Nearest</source>
   <translation>Nächster Pixel</translation>
  </message>
  <message>
   <source>No list called “{name}”.</source>
   <translation>Keine Liste „{name}“.</translation>
  </message>
  <message>
   <source>Preparing the networks</source>
   <translation>Netze vorbereiten</translation>
  </message>
  <message>
   <source>Preparing the networks for this computer, once</source>
   <translation>Netze einmalig für diesen Computer vorbereiten</translation>
  </message>
  <message>
   <source>Quick and sharp; adds no detail.</source>
   <translation>Schnell und scharf; fügt keine Einzelheiten hinzu.</translation>
  </message>
  <message>
   <source>Reading the model</source>
   <translation>Modell lesen</translation>
  </message>
  <message>
   <source>Reading the prompt</source>
   <translation>Prompt lesen</translation>
  </message>
  <message>
   <source>Repeats pixels: for pixel art.</source>
   <translation>Wiederholt Pixel: für Pixelbilder.</translation>
  </message>
  <message>
   <source>Safelight starter</source>
   <translation>Safelight-Startmodell</translation>
  </message>
  <message>
   <source>Saving</source>
   <translation>Speichern</translation>
  </message>
  <message>
   <source>Sides over {n} make it draw things twice or out of place.</source>
   <translation>Seiten über {n} lassen es Dinge doppelt oder am falschen Ort zeichnen.</translation>
  </message>
  <message>
   <source>Soft; adds no detail.</source>
   <translation>Weich; fügt keine Einzelheiten hinzu.</translation>
  </message>
  <message>
   <source>The end has no effect.</source>
   <translation>Das Ende wirkt nicht.</translation>
  </message>
  <message>
   <source>The last word has no effect.</source>
   <translation>Das letzte Wort wirkt nicht.</translation>
  </message>
  <message>
   <source>The last {n} words have no effect.</source>
   <translation>Die letzten {n} Wörter wirken nicht.</translation>
  </message>
  <message>
   <source>The starter does not know: {words} and {n} more.</source>
   <translation>Das Startmodell kennt nicht: {words} und {n} weitere.</translation>
  </message>
  <message>
   <source>The starter does not know: {words}.</source>
   <translation>Das Startmodell kennt nicht: {words}.</translation>
  </message>
  <message>
   <source>There are no IP-Adapters for this model: for image prompts choose one of Stable Diffusion 1.5 or SDXL.</source>
   <translation>Für dieses Modell gibt es keine IP-Adapter: Wählen Sie für Bild-Prompts eines von Stable Diffusion 1.5 oder SDXL.</translation>
  </message>
  <message>
   <source>This model follows no other pictures: for control layers and image prompts choose one of Stable Diffusion 1.5 or SDXL.</source>
   <translation>Dieses Modell folgt keinen anderen Bildern: Wählen Sie für Steuerebenen und Bild-Prompts eines von Stable Diffusion 1.5 oder SDXL.</translation>
  </message>
  <message>
   <source>Unclosed “{sign}”</source>
   <translation>„{sign}“ nicht geschlossen</translation>
  </message>
  <message>
   <source>Unmatched “{sign}”</source>
   <translation>„{sign}“ ohne Gegenstück</translation>
  </message>
  <message>
   <source>VAE tiles of {vae_tile}</source>
   <translation>VAE-Kacheln von {vae_tile}</translation>
  </message>
  <message>
   <source>VAE {vae}</source>
   <translation>VAE {vae}</translation>
  </message>
  <message>
   <source>about a quarter less time</source>
   <translation>etwa ein Viertel weniger Zeit</translation>
  </message>
  <message>
   <source>about {n} of {room} tokens</source>
   <translation>etwa {n} von {room} Tokens</translation>
  </message>
  <message>
   <source>as {tool}</source>
   <translation>wie {tool}</translation>
  </message>
  <message>
   <source>canvas grown by {expand}</source>
   <translation>Leinwand um {expand} vergrößert</translation>
  </message>
  <message>
   <source>churn from {churn_from}</source>
   <translation>Churn ab {churn_from}</translation>
  </message>
  <message>
   <source>churn to {churn_to}</source>
   <translation>Churn bis {churn_to}</translation>
  </message>
  <message>
   <source>churn {churn}</source>
   <translation>Churn {churn}</translation>
  </message>
  <message>
   <source>clip skip {clip_skip}</source>
   <translation>Clip-Skip {clip_skip}</translation>
  </message>
  <message>
   <source>control layers</source>
   <translation>Steuerebenen</translation>
  </message>
  <message>
   <source>denoiser {denoiser}</source>
   <translation>Entrauscher {denoiser}</translation>
  </message>
  <message>
   <source>device memory limited</source>
   <translation>Gerätespeicher begrenzt</translation>
  </message>
  <message>
   <source>enlarged and redrawn</source>
   <translation>vergrößert und neu gezeichnet</translation>
  </message>
  <message>
   <source>eta {eta}</source>
   <translation>Eta {eta}</translation>
  </message>
  <message>
   <source>flow matching</source>
   <translation>Flow Matching</translation>
  </message>
  <message>
   <source>guidance rescaled by {rescale}</source>
   <translation>Guidance um {rescale} reskaliert</translation>
  </message>
  <message>
   <source>guidance {n}</source>
   <translation>Guidance {n}</translation>
  </message>
  <message>
   <source>guided at {range}</source>
   <translation>geführt bei {range}</translation>
  </message>
  <message>
   <source>hash at {n} %</source>
   <translation>Hash zu {n} %</translation>
  </message>
  <message>
   <source>hash {digits}</source>
   <translation>Hash {digits}</translation>
  </message>
  <message>
   <source>image prompts</source>
   <translation>Bild-Prompts</translation>
  </message>
  <message>
   <source>in {precision}</source>
   <translation>in {precision}</translation>
  </message>
  <message>
   <source>inpainting</source>
   <translation>Inpainting</translation>
  </message>
  <message>
   <source>kind of the model stated</source>
   <translation>Art des Modells angegeben</translation>
  </message>
  <message>
   <source>memory limited</source>
   <translation>Speicher begrenzt</translation>
  </message>
  <message>
   <source>more than {n} tokens</source>
   <translation>mehr als {n} Tokens</translation>
  </message>
  <message>
   <source>no gain, as measured here</source>
   <translation>kein Gewinn, wie hier gemessen</translation>
  </message>
  <message>
   <source>noise of the steps from seed + {eta_seed_delta}</source>
   <translation>Rauschen der Schritte aus Seed + {eta_seed_delta}</translation>
  </message>
  <message>
   <source>noise of {resize_from}</source>
   <translation>Rauschen von {resize_from}</translation>
  </message>
  <message>
   <source>noise prediction</source>
   <translation>Rauschvorhersage</translation>
  </message>
  <message>
   <source>noise scale {noise_scale}</source>
   <translation>Rauschstärke {noise_scale}</translation>
  </message>
  <message>
   <source>number {batch_number} of its batch</source>
   <translation>Nummer {batch_number} im Stapel</translation>
  </message>
  <message>
   <source>on {backend}</source>
   <translation>auf {backend}</translation>
  </message>
  <message>
   <source>perturbed attention {pag_scale}</source>
   <translation>gestörte Aufmerksamkeit {pag_scale}</translation>
  </message>
  <message>
   <source>prediction of the picture</source>
   <translation>Vorhersage des Bildes</translation>
  </message>
  <message>
   <source>refiner {checkpoint}</source>
   <translation>Refiner {checkpoint}</translation>
  </message>
  <message>
   <source>rho {rho}</source>
   <translation>Rho {rho}</translation>
  </message>
  <message>
   <source>seamless ({tiling})</source>
   <translation>nahtlos ({tiling})</translation>
  </message>
  <message>
   <source>second text encoder {text_encoder_2}</source>
   <translation>zweiter Textencoder {text_encoder_2}</translation>
  </message>
  <message>
   <source>seed {n}</source>
   <translation>Seed {n}</translation>
  </message>
  <message>
   <source>self-attention guidance {sag_scale}</source>
   <translation>Führung durch Selbstaufmerksamkeit {sag_scale}</translation>
  </message>
  <message>
   <source>sigma max {sigma_max}</source>
   <translation>Sigma max {sigma_max}</translation>
  </message>
  <message>
   <source>sigma min {sigma_min}</source>
   <translation>Sigma min {sigma_min}</translation>
  </message>
  <message>
   <source>text encoder {text_encoder}</source>
   <translation>Textencoder {text_encoder}</translation>
  </message>
  <message>
   <source>text encoders in {text_weight_bits} bits</source>
   <translation>Textencoder in {text_weight_bits} Bit</translation>
  </message>
  <message>
   <source>third text encoder {text_encoder_3}</source>
   <translation>dritter Textencoder {text_encoder_3}</translation>
  </message>
  <message>
   <source>told of other sizes</source>
   <translation>andere Größenangaben</translation>
  </message>
  <message>
   <source>true CFG {true_cfg}</source>
   <translation>wahre CFG {true_cfg}</translation>
  </message>
  <message>
   <source>v-prediction</source>
   <translation>v-Vorhersage</translation>
  </message>
  <message>
   <source>varied by {variation_strength} towards seed {variation_seed}</source>
   <translation>um {variation_strength} zum Seed {variation_seed} variiert</translation>
  </message>
  <message>
   <source>weights in {weight_bits} bits</source>
   <translation>Gewichte in {weight_bits} Bit</translation>
  </message>
  <message>
   <source>wildcards kept as text</source>
   <translation>Platzhalter als Text</translation>
  </message>
  <message>
   <source>zero terminal SNR</source>
   <translation>Zero Terminal SNR</translation>
  </message>
  <message>
   <source>{done} of {total}</source>
   <translation>{done} von {total}</translation>
  </message>
  <message>
   <source>{encoder}: {n} of {room} tokens</source>
   <translation>{encoder}: {n} von {room} Tokens</translation>
  </message>
  <message>
   <source>{loras}</source>
   <translation>{loras}</translation>
  </message>
  <message>
   <source>{name}, made larger</source>
   <translation>{name}, vergrößert</translation>
  </message>
  <message>
   <source>{n} % less time, as measured here</source>
   <translation>{n} % weniger Zeit, wie hier gemessen</translation>
  </message>
  <message>
   <source>{n} MP</source>
   <translation>{n} MP</translation>
  </message>
  <message>
   <source>{n} h</source>
   <translation>{n} h</translation>
  </message>
  <message>
   <source>{n} min</source>
   <translation>{n} min</translation>
  </message>
  <message>
   <source>{n} of {room}</source>
   <translation>{n} von {room}</translation>
  </message>
  <message>
   <source>{n} of {room} tokens</source>
   <translation>{n} von {room} Tokens</translation>
  </message>
  <message>
   <source>{n} s</source>
   <translation>{n} s</translation>
  </message>
  <message>
   <source>{n} s per step</source>
   <translation>{n} s je Schritt</translation>
  </message>
  <message>
   <source>{n} steps</source>
   <translation>{n} Schritte</translation>
  </message>
  <message>
   <source>{sign} has no effect.</source>
   <translation>{sign} wirkt nicht.</translation>
  </message>
  <message>
   <source>{sign} is no wildcard here; it is drawn as words.</source>
   <translation>{sign} ist hier kein Platzhalter; es wird wörtlich gezeichnet.</translation>
  </message>
  <message>
   <source>{size} per second</source>
   <translation>{size} pro Sekunde</translation>
  </message>
  <message>
   <source>{time} left</source>
   <translation>noch {time}</translation>
  </message>
  <message>
   <source>{typed} became {taken}: no side may be smaller.</source>
   <translation>Aus {typed} wurde {taken}: Keine Seite darf kleiner sein.</translation>
  </message>
  <message>
   <source>{typed} became {taken}: sides are multiples of {step}.</source>
   <translation>Aus {typed} wurde {taken}: Seiten sind Vielfache von {step}.</translation>
  </message>
 </context>
 <context>
  <name>layers</name>
  <message>
   <source>A fifth of the weight after the model's middle.</source>
   <translation>Ein Fünftel des Gewichts nach der Mitte des Modells.</translation>
  </message>
  <message>
   <source>A fifth of the weight before the model's middle.</source>
   <translation>Ein Fünftel des Gewichts vor der Mitte des Modells.</translation>
  </message>
  <message>
   <source>A fifth of the weight in the model's middle.</source>
   <translation>Ein Fünftel des Gewichts in der Mitte des Modells.</translation>
  </message>
  <message>
   <source>A fifth of the weight outside the model's middle.</source>
   <translation>Ein Fünftel des Gewichts außerhalb der Mitte des Modells.</translation>
  </message>
  <message>
   <source>Above 1 the map is darker, below 1 it is lighter.</source>
   <translation>Über 1 ist die Karte dunkler, unter 1 heller.</translation>
  </message>
  <message>
   <source>All of it</source>
   <translation>Alles davon</translation>
  </message>
  <message>
   <source>Another number pulls the picture about in another way.</source>
   <translation>Eine andere Zahl verzieht das Bild auf andere Weise.</translation>
  </message>
  <message>
   <source>As in every other tool: half the weight adds half as much.</source>
   <translation>Wie in jedem anderen Programm: Das halbe Gewicht fügt halb so viel hinzu.</translation>
  </message>
  <message>
   <source>Attention and the mean</source>
   <translation>Aufmerksamkeit und Mittelwert</translation>
  </message>
  <message>
   <source>Attention, less in fine layers</source>
   <translation>Aufmerksamkeit, weniger in feinen Schichten</translation>
  </message>
  <message>
   <source>Attention, too</source>
   <translation>Auch die Aufmerksamkeit</translation>
  </message>
  <message>
   <source>Automatic</source>
   <translation>Automatisch</translation>
  </message>
  <message>
   <source>Average</source>
   <translation>Durchschnitt</translation>
  </message>
  <message>
   <source>Background</source>
   <translation>Hintergrund</translation>
  </message>
  <message>
   <source>Balanced</source>
   <translation>Ausgewogen</translation>
  </message>
  <message>
   <source>Black becomes white.</source>
   <translation>Aus Schwarz wird Weiß.</translation>
  </message>
  <message>
   <source>Blur</source>
   <translation>Unschärfe</translation>
  </message>
  <message>
   <source>Bodies</source>
   <translation>Körper</translation>
  </message>
  <message>
   <source>Canny edges</source>
   <translation>Canny-Kanten</translation>
  </message>
  <message>
   <source>Coarse edges</source>
   <translation>Grobe Kanten</translation>
  </message>
  <message>
   <source>Colours</source>
   <translation>Farben</translation>
  </message>
  <message>
   <source>Colours and manner, not what is in the picture.</source>
   <translation>Farben und Malweise, nicht was im Bild ist.</translation>
  </message>
  <message>
   <source>Colours of directions</source>
   <translation>Farben der Richtungen</translation>
  </message>
  <message>
   <source>Composition only</source>
   <translation>Nur Komposition</translation>
  </message>
  <message>
   <source>Composition, not style</source>
   <translation>Komposition ohne Stil</translation>
  </message>
  <message>
   <source>Content, style and composition of the picture.</source>
   <translation>Inhalt, Stil und Komposition des Bildes.</translation>
  </message>
  <message>
   <source>Crop</source>
   <translation>Beschneiden</translation>
  </message>
  <message>
   <source>Depth</source>
   <translation>Tiefe</translation>
  </message>
  <message>
   <source>Difference</source>
   <translation>Differenz</translation>
  </message>
  <message>
   <source>Differences within the picture stay: K+mean(V) with a penalty.</source>
   <translation>Unterschiede innerhalb des Bildes bleiben: K+mean(V) mit Abzug.</translation>
  </message>
  <message>
   <source>Draw bodies.</source>
   <translation>Körper zeichnen.</translation>
  </message>
  <message>
   <source>Draw faces.</source>
   <translation>Gesichter zeichnen.</translation>
  </message>
  <message>
   <source>Draw hands.</source>
   <translation>Hände zeichnen.</translation>
  </message>
  <message>
   <source>Edges begin where they are as strong as this.</source>
   <translation>Kanten beginnen, wo sie so stark sind.</translation>
  </message>
  <message>
   <source>Edges of three levels, which hide less of the picture.</source>
   <translation>Kanten in drei Stufen, die weniger vom Bild verbergen.</translation>
  </message>
  <message>
   <source>Even average</source>
   <translation>Gleichmäßiger Durchschnitt</translation>
  </message>
  <message>
   <source>Everything but the places of things.</source>
   <translation>Alles außer den Plätzen der Dinge.</translation>
  </message>
  <message>
   <source>Faces</source>
   <translation>Gesichter</translation>
  </message>
  <message>
   <source>Fading</source>
   <translation>Abnehmend</translation>
  </message>
  <message>
   <source>Fading and growing</source>
   <translation>Ab- und zunehmend</translation>
  </message>
  <message>
   <source>Farther than this part of the depth, surfaces face you.</source>
   <translation>Weiter entfernt als dieser Teil der Tiefe sind Flächen Ihnen zugewandt.</translation>
  </message>
  <message>
   <source>Fit</source>
   <translation>Einpassen</translation>
  </message>
  <message>
   <source>Gamma</source>
   <translation>Gamma</translation>
  </message>
  <message>
   <source>Growing</source>
   <translation>Zunehmend</translation>
  </message>
  <message>
   <source>Growing and fading</source>
   <translation>Zu- und abnehmend</translation>
  </message>
  <message>
   <source>Hands</source>
   <translation>Hände</translation>
  </message>
  <message>
   <source>Hardly in the first blocks of the model, most in the last.</source>
   <translation>Kaum in den ersten Blöcken des Modells, am meisten in den letzten.</translation>
  </message>
  <message>
   <source>IP-Adapters need a CLIP vision encoder, and your folders have none. Put it into {folder}.</source>
   <translation>IP-Adapter brauchen einen CLIP-Bild-Encoder, und in Ihren Ordnern ist keiner. Legen Sie ihn in {folder}.</translation>
  </message>
  <message>
   <source>Inpainting</source>
   <translation>Inpainting</translation>
  </message>
  <message>
   <source>Inverted</source>
   <translation>Umgekehrt</translation>
  </message>
  <message>
   <source>It is for {families}; the model is {own}.</source>
   <translation>Es ist für {families}; das Modell ist {own}.</translation>
  </message>
  <message>
   <source>Left out: its file is not in your folders.</source>
   <translation>Weggelassen: seine Datei ist nicht in Ihren Ordnern.</translation>
  </message>
  <message>
   <source>Left out: there are no IP-Adapters for this model.</source>
   <translation>Weggelassen: Für dieses Modell gibt es keine IP-Adapter.</translation>
  </message>
  <message>
   <source>Left out: there are no control networks for this model.</source>
   <translation>Weggelassen: Für dieses Modell gibt es keine Steuernetze.</translation>
  </message>
  <message>
   <source>Left out: {reason}</source>
   <translation>Weggelassen: {reason}</translation>
  </message>
  <message>
   <source>Line drawing</source>
   <translation>Strichzeichnung</translation>
  </message>
  <message>
   <source>Made smaller by</source>
   <translation>Verkleinert um</translation>
  </message>
  <message>
   <source>Manner and places, without the other content.</source>
   <translation>Malweise und Orte, ohne den übrigen Inhalt.</translation>
  </message>
  <message>
   <source>Most in the first and the last blocks of the model.</source>
   <translation>Am meisten in den ersten und letzten Blöcken des Modells.</translation>
  </message>
  <message>
   <source>Most in the first blocks of the model, hardly in the last.</source>
   <translation>Am meisten in den ersten Blöcken des Modells, kaum in den letzten.</translation>
  </message>
  <message>
   <source>Most in the middle blocks of the model.</source>
   <translation>Am meisten in den mittleren Blöcken des Modells.</translation>
  </message>
  <message>
   <source>Needs {file}.</source>
   <translation>Braucht {file}.</translation>
  </message>
  <message>
   <source>No picture yet</source>
   <translation>Noch kein Bild</translation>
  </message>
  <message>
   <source>None</source>
   <translation>Keine</translation>
  </message>
  <message>
   <source>Not followed until a control network is chosen.</source>
   <translation>Wird erst befolgt, wenn ein Steuernetz gewählt ist.</translation>
  </message>
  <message>
   <source>Numbers that come out</source>
   <translation>Zahlen heraus</translation>
  </message>
  <message>
   <source>Numbers that go in</source>
   <translation>Zahlen hinein</translation>
  </message>
  <message>
   <source>Pixels of the map's shorter side.</source>
   <translation>Pixel der kürzeren Seite der Karte.</translation>
  </message>
  <message>
   <source>Pixels of the square that the network sees.</source>
   <translation>Pixel des Quadrats, das das Netz sieht.</translation>
  </message>
  <message>
   <source>Pose</source>
   <translation>Pose</translation>
  </message>
  <message>
   <source>Prompt and map count alike.</source>
   <translation>Prompt und Karte zählen gleich viel.</translation>
  </message>
  <message>
   <source>Put it anywhere into {folder}, or choose it.</source>
   <translation>Legen Sie sie irgendwo in {folder}, oder wählen Sie sie.</translation>
  </message>
  <message>
   <source>Recolouring</source>
   <translation>Umfärben</translation>
  </message>
  <message>
   <source>Reference</source>
   <translation>Referenz</translation>
  </message>
  <message>
   <source>Resolution</source>
   <translation>Auflösung</translation>
  </message>
  <message>
   <source>Scribble</source>
   <translation>Gekritzel</translation>
  </message>
  <message>
   <source>Seed</source>
   <translation>Seed</translation>
  </message>
  <message>
   <source>Segmentation</source>
   <translation>Segmentierung</translation>
  </message>
  <message>
   <source>Shuffled content</source>
   <translation>Durchmischter Inhalt</translation>
  </message>
  <message>
   <source>Side by side</source>
   <translation>Nebeneinander</translation>
  </message>
  <message>
   <source>Side that it sees</source>
   <translation>Seite, die es sieht</translation>
  </message>
  <message>
   <source>Soft edges</source>
   <translation>Weiche Kanten</translation>
  </message>
  <message>
   <source>Stretch</source>
   <translation>Strecken</translation>
  </message>
  <message>
   <source>Strong edges from</source>
   <translation>Starke Kanten ab</translation>
  </message>
  <message>
   <source>Strong middle</source>
   <translation>Starke Mitte</translation>
  </message>
  <message>
   <source>Strong style</source>
   <translation>Starker Stil</translation>
  </message>
  <message>
   <source>Style and composition</source>
   <translation>Stil und Komposition</translation>
  </message>
  <message>
   <source>Style fidelity</source>
   <translation>Stiltreue</translation>
  </message>
  <message>
   <source>Style only</source>
   <translation>Nur Stil</translation>
  </message>
  <message>
   <source>Style, not composition</source>
   <translation>Stil ohne Komposition</translation>
  </message>
  <message>
   <source>Sum</source>
   <translation>Summe</translation>
  </message>
  <message>
   <source>Surface normals</source>
   <translation>Oberflächennormalen</translation>
  </message>
  <message>
   <source>Switched off.</source>
   <translation>Ausgeschaltet.</translation>
  </message>
  <message>
   <source>Takes the composition, and leads away from the style.</source>
   <translation>Übernimmt die Komposition und führt vom Stil weg.</translation>
  </message>
  <message>
   <source>Takes the style, and leads away from the composition.</source>
   <translation>Übernimmt den Stil und führt von der Komposition weg.</translation>
  </message>
  <message>
   <source>The average in which no picture outweighs another.</source>
   <translation>Der Durchschnitt, in dem kein Bild ein anderes überwiegt.</translation>
  </message>
  <message>
   <source>The first without what is in the others.</source>
   <translation>Das erste ohne das, was in den anderen ist.</translation>
  </message>
  <message>
   <source>The level that divides white from black.</source>
   <translation>Die Stufe, die Weiß von Schwarz trennt.</translation>
  </message>
  <message>
   <source>The map fills the picture; what is beyond its sides is cut off.</source>
   <translation>Die Karte füllt das Bild; was über die Seiten ragt, wird abgeschnitten.</translation>
  </message>
  <message>
   <source>The map gives way where the prompt wants something else.</source>
   <translation>Die Karte gibt nach, wo der Prompt etwas anderes will.</translation>
  </message>
  <message>
   <source>The map is kept to even where the prompt wants otherwise.</source>
   <translation>Die Karte gilt auch, wo der Prompt etwas anderes will.</translation>
  </message>
  <message>
   <source>The map is more important</source>
   <translation>Die Karte ist wichtiger</translation>
  </message>
  <message>
   <source>The map that its numbers become.</source>
   <translation>Die Karte, die aus seinen Zahlen wird.</translation>
  </message>
  <message>
   <source>The model also looks more at the picture, or less: K+V.</source>
   <translation>Das Modell achtet auch mehr oder weniger auf das Bild: K+V.</translation>
  </message>
  <message>
   <source>The model looks at all of them together.</source>
   <translation>Das Modell sieht alle zusammen.</translation>
  </message>
  <message>
   <source>The more, the closer the style is to the reference's.</source>
   <translation>Je mehr, desto näher ist der Stil an dem der Referenz.</translation>
  </message>
  <message>
   <source>The more, the freer the details are.</source>
   <translation>Je mehr, desto freier sind die Einzelheiten.</translation>
  </message>
  <message>
   <source>The more, the steeper surfaces are.</source>
   <translation>Je mehr, desto steiler sind Flächen.</translation>
  </message>
  <message>
   <source>The network must have been trained on them.</source>
   <translation>Das Netz muss mit ihnen trainiert sein.</translation>
  </message>
  <message>
   <source>The numbers that the network takes for a picture.</source>
   <translation>Die Zahlen, die das Netz für ein Bild erwartet.</translation>
  </message>
  <message>
   <source>The picture is a map already, and is followed as it is.</source>
   <translation>Das Bild ist schon eine Karte und wird so befolgt, wie es ist.</translation>
  </message>
  <message>
   <source>The places of things, not how they are painted.</source>
   <translation>Die Orte der Dinge, nicht wie sie gemalt sind.</translation>
  </message>
  <message>
   <source>The prompt is more important</source>
   <translation>Der Prompt ist wichtiger</translation>
  </message>
  <message>
   <source>The radius of the blur in pixels of the map.</source>
   <translation>Der Radius der Unschärfe in Pixeln der Karte.</translation>
  </message>
  <message>
   <source>The whole map within the picture, with borders around it.</source>
   <translation>Die ganze Karte innerhalb des Bildes, mit Rändern darum.</translation>
  </message>
  <message>
   <source>The whole map, stretched into the picture's shape.</source>
   <translation>Die ganze Karte, in die Form des Bildes gestreckt.</translation>
  </message>
  <message>
   <source>Threshold</source>
   <translation>Schwelle</translation>
  </message>
  <message>
   <source>Tile</source>
   <translation>Kachel</translation>
  </message>
  <message>
   <source>Weak beginning</source>
   <translation>Schwacher Anfang</translation>
  </message>
  <message>
   <source>Weak edges from</source>
   <translation>Schwache Kanten ab</translation>
  </message>
  <message>
   <source>Weak end</source>
   <translation>Schwaches Ende</translation>
  </message>
  <message>
   <source>Weak middle</source>
   <translation>Schwache Mitte</translation>
  </message>
  <message>
   <source>Weaker edges are left out; lower shows more of them.</source>
   <translation>Schwächere Kanten fallen weg; weniger zeigt mehr davon.</translation>
  </message>
  <message>
   <source>Weaker where the model works on details: K+V with a penalty.</source>
   <translation>Schwächer, wo das Modell Einzelheiten zeichnet: K+V mit Abzug.</translation>
  </message>
  <message>
   <source>What is in any of them, stronger where they agree.</source>
   <translation>Was in einem davon ist, stärker, wo sie übereinstimmen.</translation>
  </message>
  <message>
   <source>What it adds</source>
   <translation>Das Hinzugefügte</translation>
  </message>
  <message>
   <source>What they have in common.</source>
   <translation>Was sie gemeinsam haben.</translation>
  </message>
  <message>
   <source>Without effect until a picture is chosen.</source>
   <translation>Ohne Wirkung, bis ein Bild gewählt ist.</translation>
  </message>
  <message>
   <source>Without effect until an IP-Adapter is chosen.</source>
   <translation>Ohne Wirkung, bis ein IP-Adapter gewählt ist.</translation>
  </message>
  <message>
   <source>Your folders have no IP-Adapter. Put some into {folder}.</source>
   <translation>In Ihren Ordnern ist kein IP-Adapter. Legen Sie welche in {folder}.</translation>
  </message>
  <message>
   <source>Your folders have no control network. Put some into {folder}.</source>
   <translation>In Ihren Ordnern ist kein Steuernetz. Legen Sie welche in {folder}.</translation>
  </message>
 </context>
 <context>
  <name>loras</name>
  <message>
   <source>Its file is not found.</source>
   <translation>Die Datei ist nicht zu finden.</translation>
  </message>
  <message>
   <source>Its file is not found; its hash is {digits}.</source>
   <translation>Die Datei ist nicht zu finden; ihr Hash ist {digits}.</translation>
  </message>
  <message>
   <source>Its file is not there; the one of its name in {folder} is used.</source>
   <translation>Die Datei ist nicht da; die gleichnamige in {folder} wird verwendet.</translation>
  </message>
  <message>
   <source>Not applied: it is {purpose}, and the model is {family}.</source>
   <translation>Nicht angewandt: Das ist {purpose}, und das Modell ist {family}.</translation>
  </message>
  <message>
   <source>Not applied: {problem}</source>
   <translation>Nicht angewandt: {problem}</translation>
  </message>
  <message>
   <source>Switched off.</source>
   <translation>Ausgeschaltet.</translation>
  </message>
  <message>
   <source>The prompt names {name}, which is not found.</source>
   <translation>Der Prompt nennt {name}, was nicht zu finden ist.</translation>
  </message>
  <message>
   <source>The prompt names {name}, which is not found; its hash is {digits}.</source>
   <translation>Der Prompt nennt {name}, was nicht zu finden ist; der Hash ist {digits}.</translation>
  </message>
  <message>
   <source>The prompt names {name}: of {n} files of this name that in {folder} is used.</source>
   <translation>Der Prompt nennt {name}: Von {n} Dateien dieses Namens wird die in {folder} verwendet.</translation>
  </message>
  <message>
   <source>Use its settings: {title}, {steps}, guidance {guidance}</source>
   <translation>Ihre Einstellungen verwenden: {title}, {steps}, Guidance {guidance}</translation>
  </message>
  <message>
   <source>a LoRA</source>
   <translation>eine LoRA</translation>
  </message>
  <message>
   <source>a LoRA for {family}</source>
   <translation>eine LoRA für {family}</translation>
  </message>
  <message>
   <source>an embedding</source>
   <translation>ein Embedding</translation>
  </message>
  <message>
   <source>cannot be used</source>
   <translation>nicht verwendbar</translation>
  </message>
  <message>
   <source>few steps: {title}</source>
   <translation>wenige Schritte: {title}</translation>
  </message>
  <message>
   <source>rank {n}</source>
   <translation>Rang {n}</translation>
  </message>
  <message>
   <source>reading {n}</source>
   <translation>{n} werden gelesen</translation>
  </message>
  <message>
   <source>{folder} ({files})</source>
   <translation>{folder} ({files})</translation>
  </message>
  <message>
   <source>{name} is {purpose}, and the model is {family}: it cannot be added.</source>
   <translation>{name} ist {purpose}, und das Modell ist {family}: nicht hinzufügbar.</translation>
  </message>
  <message>
   <source>{n} of {count} files</source>
   <translation>{n} von {count} Dateien</translation>
  </message>
  <message>
   <source>{problem} It cannot be added.</source>
   <translation>{problem} Sie kann nicht hinzugefügt werden.</translation>
  </message>
 </context>
 <context>
  <name>machine</name>
  <message>
   <source>A picture takes a few seconds.</source>
   <translation>Ein Bild dauert ein paar Sekunden.</translation>
  </message>
  <message>
   <source>A picture takes about {time}.</source>
   <translation>Ein Bild dauert etwa {time}.</translation>
  </message>
  <message>
   <source>Found: {things}.</source>
   <translation>Gefunden: {things}.</translation>
  </message>
  <message>
   <source>Nothing here can make pictures yet.</source>
   <translation>Hier kann noch nichts Bilder erzeugen.</translation>
  </message>
  <message>
   <source>The graphics of your processor, {name}, are used.</source>
   <translation>Die Grafik Ihres Prozessors, {name}, wird verwendet.</translation>
  </message>
  <message>
   <source>There is no graphics card to use: the processor makes pictures.</source>
   <translation>Es gibt keine verwendbare Grafikkarte: Der Prozessor erzeugt die Bilder.</translation>
  </message>
  <message>
   <source>Your graphics card {name} is not used yet.</source>
   <translation>Ihre Grafikkarte {name} wird noch nicht verwendet.</translation>
  </message>
  <message>
   <source>Your graphics card {name} is used.</source>
   <translation>Ihre Grafikkarte {name} wird verwendet.</translation>
  </message>
  <message>
   <source>a processor</source>
   <translation>ein Prozessor</translation>
  </message>
  <message>
   <source>driver {name}</source>
   <translation>Treiber {name}</translation>
  </message>
  <message>
   <source>not for pictures: {reason}</source>
   <translation>nicht für Bilder: {reason}</translation>
  </message>
  <message>
   <source>shares the computer's memory</source>
   <translation>teilt den Speicher des Computers</translation>
  </message>
  <message>
   <source>{name} with {size}</source>
   <translation>{name} mit {size}</translation>
  </message>
  <message>
   <source>{n} GB</source>
   <translation>{n} GB</translation>
  </message>
  <message>
   <source>{size} free on the disk</source>
   <translation>{size} frei auf dem Datenträger</translation>
  </message>
  <message>
   <source>{size} of memory</source>
   <translation>{size} Speicher</translation>
  </message>
  <message>
   <source>{size} of memory ({free} free)</source>
   <translation>{size} Speicher ({free} frei)</translation>
  </message>
 </context>
 <context>
  <name>masks</name>
  <message>
   <source>Make room on the disk, or name another folder in SAFELIGHT_STATE.</source>
   <translation>Platz auf dem Datenträger schaffen oder in SAFELIGHT_STATE einen anderen Ordner nennen.</translation>
  </message>
  <message>
   <source>Save it as a PNG file in another program.</source>
   <translation>In einem anderen Programm als PNG-Datei speichern.</translation>
  </message>
  <message>
   <source>The mask cannot be kept in {folder}.</source>
   <translation>Die Maske kann nicht in {folder} aufbewahrt werden.</translation>
  </message>
  <message>
   <source>The picture cannot be kept in {folder}.</source>
   <translation>Das Bild kann nicht in {folder} aufbewahrt werden.</translation>
  </message>
  <message>
   <source>{name} cannot be read as a picture.</source>
   <translation>{name} lässt sich nicht als Bild lesen.</translation>
  </message>
 </context>
 <context>
  <name>methods</name>
  <message>
   <source># as text</source>
   <translation># als Text</translation>
  </message>
  <message>
   <source>A step takes twice as long.</source>
   <translation>Ein Schritt dauert doppelt so lange.</translation>
  </message>
  <message>
   <source>Adaptive</source>
   <translation>Adaptiv</translation>
  </message>
  <message>
   <source>Adds no noise: more steps refine the picture.</source>
   <translation>Fügt kein Rauschen hinzu: Mehr Schritte verfeinern das Bild.</translation>
  </message>
  <message>
   <source>Adds noise in AUTOMATIC1111, none elsewhere.</source>
   <translation>Fügt in AUTOMATIC1111 Rauschen hinzu, anderswo keines.</translation>
  </message>
  <message>
   <source>Adds noise: more steps change the picture.</source>
   <translation>Fügt Rauschen hinzu: Mehr Schritte ändern das Bild.</translation>
  </message>
  <message>
   <source>As DPM++ 2M SDE, otherwise corrected.</source>
   <translation>Wie DPM++ 2M SDE, anders korrigiert.</translation>
  </message>
  <message>
   <source>As DPM++ 2M, with richer detail.</source>
   <translation>Wie DPM++ 2M, mit mehr Details.</translation>
  </message>
  <message>
   <source>As Normal without its last level; for few steps.</source>
   <translation>Wie Normal ohne die letzte Stufe; für wenige Schritte.</translation>
  </message>
  <message>
   <source>As Normal, counted as k-diffusion does.</source>
   <translation>Wie Normal, gezählt wie in k-diffusion.</translation>
  </message>
  <message>
   <source>As a diffusers script: brackets are text, and 75 tokens are read.</source>
   <translation>Wie ein diffusers-Skript: Klammern sind Text, und 75 Tokens werden gelesen.</translation>
  </message>
  <message>
   <source>Back along the way of the training; wants many steps.</source>
   <translation>Auf dem Weg des Trainings zurück; braucht viele Schritte.</translation>
  </message>
  <message>
   <source>CFG++</source>
   <translation>CFG++</translation>
  </message>
  <message>
   <source>Common</source>
   <translation>Gängig</translation>
  </message>
  <message>
   <source>Computed to lose little in few steps.</source>
   <translation>So berechnet, dass in wenigen Schritten wenig verloren geht.</translation>
  </message>
  <message>
   <source>DDIM with guidance that stays closer to real pictures.</source>
   <translation>DDIM mit einer Guidance, die näher an echten Bildern bleibt.</translation>
  </message>
  <message>
   <source>DPM adaptive</source>
   <translation>DPM adaptive</translation>
  </message>
  <message>
   <source>DPM fast</source>
   <translation>DPM fast</translation>
  </message>
  <message>
   <source>DPM2 with noise; detailed and lively.</source>
   <translation>DPM2 mit Rauschen; detailreich und lebhaft.</translation>
  </message>
  <message>
   <source>Deterministic</source>
   <translation>Deterministisch</translation>
  </message>
  <message>
   <source>Each level the same part of the one before; for SDE samplers.</source>
   <translation>Jede Stufe der gleiche Anteil der vorigen; für SDE-Sampler.</translation>
  </message>
  <message>
   <source>Euler a for guidance from 0 to 2.</source>
   <translation>Euler a für Guidance von 0 bis 2.</translation>
  </message>
  <message>
   <source>Euler for guidance from 0 to 2.</source>
   <translation>Euler für Guidance von 0 bis 2.</translation>
  </message>
  <message>
   <source>Euler that looks back at earlier steps.</source>
   <translation>Euler, der auf frühere Schritte zurückblickt.</translation>
  </message>
  <message>
   <source>Euler with each step corrected; exact.</source>
   <translation>Euler mit Korrektur jedes Schritts; genau.</translation>
  </message>
  <message>
   <source>Even in the time of the training.</source>
   <translation>Gleichmäßig in der Zeit des Trainings.</translation>
  </message>
  <message>
   <source>Every so many levels of the training, from the top.</source>
   <translation>Jede soundsovielte Stufe des Trainings, von oben.</translation>
  </message>
  <message>
   <source>Exponential</source>
   <translation>Exponential</translation>
  </message>
  <message>
   <source>Exponential with a bend.</source>
   <translation>Exponential mit einer Biegung.</translation>
  </message>
  <message>
   <source>Few-step models</source>
   <translation>Modelle mit wenigen Schritten</translation>
  </message>
  <message>
   <source>Finds its own steps, whatever their number in the form.</source>
   <translation>Findet seine Schritte selbst, gleich wie viele im Formular stehen.</translation>
  </message>
  <message>
   <source>For LCM models: 2 to 8 steps, low guidance.</source>
   <translation>Für LCM-Modelle: 2 bis 8 Schritte, geringe Guidance.</translation>
  </message>
  <message>
   <source>For TCD models: 4 to 8 steps, low guidance.</source>
   <translation>Für TCD-Modelle: 4 bis 8 Schritte, geringe Guidance.</translation>
  </message>
  <message>
   <source>Found by NVIDIA for 10 steps.</source>
   <translation>Von NVIDIA für 10 Schritte gefunden.</translation>
  </message>
  <message>
   <source>Goes back and over some steps again; exact.</source>
   <translation>Geht zurück und wiederholt Schritte; genau.</translation>
  </message>
  <message>
   <source>Half of the steps in the highest noise, then ever larger ones.</source>
   <translation>Die Hälfte der Schritte im stärksten Rauschen, dann immer größere.</translation>
  </message>
  <message>
   <source>KL Optimal</source>
   <translation>KL Optimal</translation>
  </message>
  <message>
   <source>Linear Quadratic</source>
   <translation>Linear Quadratic</translation>
  </message>
  <message>
   <source>Lively and soft, good in few steps.</source>
   <translation>Lebhaft und weich, gut in wenigen Schritten.</translation>
  </message>
  <message>
   <source>Looks ahead to the middle of each step.</source>
   <translation>Blickt in die Mitte jedes Schritts voraus.</translation>
  </message>
  <message>
   <source>Looks back at earlier steps; good in few.</source>
   <translation>Blickt auf frühere Schritte zurück; gut in wenigen.</translation>
  </message>
  <message>
   <source>Looks back at one step; close to DPM++ 2M.</source>
   <translation>Blickt auf einen Schritt zurück; nahe an DPM++ 2M.</translation>
  </message>
  <message>
   <source>Looks further back; wants 30 steps or more.</source>
   <translation>Blickt weiter zurück; braucht 30 Schritte oder mehr.</translation>
  </message>
  <message>
   <source>More</source>
   <translation>Weitere</translation>
  </message>
  <message>
   <source>More steps at both ends.</source>
   <translation>Mehr Schritte an beiden Enden.</translation>
  </message>
  <message>
   <source>More steps where detail appears; right for most.</source>
   <translation>Mehr Schritte, wo Details entstehen; für die meisten richtig.</translation>
  </message>
  <message>
   <source>Normal</source>
   <translation>Normal</translation>
  </message>
  <message>
   <source>One of the first; soft and predictable.</source>
   <translation>Einer der ersten; weich und berechenbar.</translation>
  </message>
  <message>
   <source>Polyexponential</source>
   <translation>Polyexponential</translation>
  </message>
  <message>
   <source>Predicts and corrects; good in few steps.</source>
   <translation>Sagt voraus und korrigiert; gut in wenigen Schritten.</translation>
  </message>
  <message>
   <source>Prompts, noise and steps as in AUTOMATIC1111 with noise from the processor.</source>
   <translation>Prompts, Rauschen und Schritte wie in AUTOMATIC1111 mit Rauschen vom Prozessor.</translation>
  </message>
  <message>
   <source>Prompts, noise and steps as in ComfyUI.</source>
   <translation>Prompts, Rauschen und Schritte wie in ComfyUI.</translation>
  </message>
  <message>
   <source>Prompts, noise and steps as in InvokeAI, where word++ counts more.</source>
   <translation>Prompts, Rauschen und Schritte wie in InvokeAI, wo Wort++ mehr zählt.</translation>
  </message>
  <message>
   <source>Rich in detail in few steps.</source>
   <translation>Detailreich in wenigen Schritten.</translation>
  </message>
  <message>
   <source>SDE noise from the seed's stream</source>
   <translation>SDE-Rauschen aus dem Strom des Seeds</translation>
  </message>
  <message>
   <source>SGM Uniform</source>
   <translation>SGM Uniform</translation>
  </message>
  <message>
   <source>SGM noise multiplier</source>
   <translation>SGM-Rauschfaktor</translation>
  </message>
  <message>
   <source>Sharp and quick; right for most.</source>
   <translation>Scharf und schnell; für die meisten richtig.</translation>
  </message>
  <message>
   <source>Sharp, with a look ahead.</source>
   <translation>Scharf, mit einem Blick voraus.</translation>
  </message>
  <message>
   <source>Simple</source>
   <translation>Simple</translation>
  </message>
  <message>
   <source>Stochastic</source>
   <translation>Stochastisch</translation>
  </message>
  <message>
   <source>Takes three evaluations together; wants many steps.</source>
   <translation>Nimmt drei Auswertungen zusammen; braucht viele Schritte.</translation>
  </message>
  <message>
   <source>The simplest; soft and dependable.</source>
   <translation>Der einfachste; weich und verlässlich.</translation>
  </message>
  <message>
   <source>The spacing that DDIM came with.</source>
   <translation>Der Abstand, mit dem DDIM erschien.</translation>
  </message>
  <message>
   <source>UniPC by another of its paper's formulas.</source>
   <translation>UniPC nach einer anderen Formel aus seinem Artikel.</translation>
  </message>
  <message>
   <source>Uniform</source>
   <translation>Uniform</translation>
  </message>
  <message>
   <source>What the first release came with.</source>
   <translation>Der Sampler der ersten Veröffentlichung.</translation>
  </message>
  <message>
   <source>a graphics card's noise</source>
   <translation>Rauschen einer Grafikkarte</translation>
  </message>
  <message>
   <source>a graphics card's noise in the steps</source>
   <translation>Rauschen einer Grafikkarte in den Schritten</translation>
  </message>
  <message>
   <source>a seed for each picture</source>
   <translation>ein Seed für jedes Bild</translation>
  </message>
  <message>
   <source>brackets as text</source>
   <translation>Klammern als Text</translation>
  </message>
  <message>
   <source>characters as written</source>
   <translation>Zeichen wie geschrieben</translation>
  </message>
  <message>
   <source>no signs but brackets</source>
   <translation>keine Zeichen außer Klammern</translation>
  </message>
  <message>
   <source>one seed for the batch</source>
   <translation>ein Seed für den Stapel</translation>
  </message>
  <message>
   <source>the processor's noise in the steps</source>
   <translation>Rauschen des Prozessors in den Schritten</translation>
  </message>
  <message>
   <source>weights not read</source>
   <translation>Gewichte nicht gelesen</translation>
  </message>
  <message>
   <source>weights without effect</source>
   <translation>Gewichte ohne Wirkung</translation>
  </message>
  <message>
   <source>weights without norm</source>
   <translation>Gewichte ohne Norm</translation>
  </message>
  <message>
   <source>with the next-to-last level</source>
   <translation>mit der vorletzten Stufe</translation>
  </message>
  <message>
   <source>without the next-to-last level</source>
   <translation>ohne die vorletzte Stufe</translation>
  </message>
  <message>
   <source>{tool} as the picture was made with it: {changes}.</source>
   <translation>{tool}, wie das Bild damit entstand: {changes}.</translation>
  </message>
  <message>
   <source>{tool}, adjusted</source>
   <translation>{tool}, angepasst</translation>
  </message>
 </context>
 <context>
  <name>models</name>
  <message>
   <source>1 file</source>
   <translation>1 Datei</translation>
  </message>
  <message>
   <source>A folder of models</source>
   <translation>Ein Modellordner</translation>
  </message>
  <message>
   <source>Add to the picture</source>
   <translation>Zum Bild hinzufügen</translation>
  </message>
  <message>
   <source>Add to the prompt</source>
   <translation>In den Prompt einfügen</translation>
  </message>
  <message>
   <source>ControlNet</source>
   <translation>ControlNet</translation>
  </message>
  <message>
   <source>ControlNets</source>
   <translation>ControlNets</translation>
  </message>
  <message>
   <source>Denoiser (UNet or transformer)</source>
   <translation>Entrauscher (UNet oder Transformer)</translation>
  </message>
  <message>
   <source>Denoisers (UNets)</source>
   <translation>Entrauscher (UNets)</translation>
  </message>
  <message>
   <source>Embedding</source>
   <translation>Embedding</translation>
  </message>
  <message>
   <source>Embeddings</source>
   <translation>Embeddings</translation>
  </message>
  <message>
   <source>Enlarge pictures with it</source>
   <translation>Bilder damit vergrößern</translation>
  </message>
  <message>
   <source>Find {name}</source>
   <translation>{name} suchen</translation>
  </message>
  <message>
   <source>Follow a picture with it</source>
   <translation>Einem Bild damit folgen</translation>
  </message>
  <message>
   <source>IP-Adapter</source>
   <translation>IP-Adapter</translation>
  </message>
  <message>
   <source>IP-Adapters</source>
   <translation>IP-Adapter</translation>
  </message>
  <message>
   <source>LoRA</source>
   <translation>LoRA</translation>
  </message>
  <message>
   <source>LoRAs</source>
   <translation>LoRAs</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>Modelle</translation>
  </message>
  <message>
   <source>Other</source>
   <translation>Anderes</translation>
  </message>
  <message>
   <source>Others</source>
   <translation>Andere</translation>
  </message>
  <message>
   <source>Text encoder</source>
   <translation>Textencoder</translation>
  </message>
  <message>
   <source>Text encoders</source>
   <translation>Textencoder</translation>
  </message>
  <message>
   <source>Upscaler</source>
   <translation>Upscaler</translation>
  </message>
  <message>
   <source>Upscalers</source>
   <translation>Upscaler</translation>
  </message>
  <message>
   <source>Use for an image prompt</source>
   <translation>Für einen Bild-Prompt verwenden</translation>
  </message>
  <message>
   <source>Use for image prompts</source>
   <translation>Für Bild-Prompts verwenden</translation>
  </message>
  <message>
   <source>Use this model</source>
   <translation>Dieses Modell verwenden</translation>
  </message>
  <message>
   <source>Use with the chosen model</source>
   <translation>Mit dem gewählten Modell verwenden</translation>
  </message>
  <message>
   <source>VAE</source>
   <translation>VAE</translation>
  </message>
  <message>
   <source>VAEs</source>
   <translation>VAEs</translation>
  </message>
  <message>
   <source>Vision encoder</source>
   <translation>Bild-Encoder</translation>
  </message>
  <message>
   <source>Vision encoders</source>
   <translation>Bild-Encoder</translation>
  </message>
  <message>
   <source>more than {n}</source>
   <translation>mehr als {n}</translation>
  </message>
  <message>
   <source>reading {n}</source>
   <translation>{n} werden gelesen</translation>
  </message>
  <message>
   <source>{architecture}, cleans a picture and keeps its size</source>
   <translation>{architecture}, reinigt ein Bild und behält seine Größe</translation>
  </message>
  <message>
   <source>{architecture}, makes each side {n} times as long</source>
   <translation>{architecture}, macht jede Seite {n}-mal so lang</translation>
  </message>
  <message>
   <source>{n} files</source>
   <translation>{n} Dateien</translation>
  </message>
  <message>
   <source>{n} of {count} files</source>
   <translation>{n} von {count} Dateien</translation>
  </message>
  <message>
   <source>{part} is missing</source>
   <translation>{part} fehlt</translation>
  </message>
 </context>
 <context>
  <name>notices</name>
  <message>
   <source>Cancel all</source>
   <translation>Alle abbrechen</translation>
  </message>
  <message>
   <source>Change the settings</source>
   <translation>Einstellungen ändern</translation>
  </message>
  <message>
   <source>Check for updates…</source>
   <translation>Nach Updates suchen…</translation>
  </message>
  <message>
   <source>Check the hardware again</source>
   <translation>Hardware neu prüfen</translation>
  </message>
  <message>
   <source>Choose a file with it…</source>
   <translation>Datei damit wählen…</translation>
  </message>
  <message>
   <source>Choose a model…</source>
   <translation>Modell wählen…</translation>
  </message>
  <message>
   <source>Choose a picture…</source>
   <translation>Bild wählen…</translation>
  </message>
  <message>
   <source>Choose another folder…</source>
   <translation>Anderen Ordner wählen…</translation>
  </message>
  <message>
   <source>Choose another picture…</source>
   <translation>Anderes Bild wählen…</translation>
  </message>
  <message>
   <source>Clear the cache…</source>
   <translation>Zwischenspeicher leeren…</translation>
  </message>
  <message>
   <source>Find the file…</source>
   <translation>Datei suchen…</translation>
  </message>
  <message>
   <source>Free memory and try again</source>
   <translation>Speicher leeren und neu versuchen</translation>
  </message>
  <message>
   <source>Invert the mask and try again</source>
   <translation>Maske umkehren und neu versuchen</translation>
  </message>
  <message>
   <source>LoRA folders…</source>
   <translation>LoRA-Ordner…</translation>
  </message>
  <message>
   <source>Make it again</source>
   <translation>Neu erzeugen</translation>
  </message>
  <message>
   <source>Make it on {device}</source>
   <translation>Auf {device} erzeugen</translation>
  </message>
  <message>
   <source>Make it with {runtime}</source>
   <translation>Mit {runtime} erzeugen</translation>
  </message>
  <message>
   <source>Put back</source>
   <translation>Zurücklegen</translation>
  </message>
  <message>
   <source>Resume</source>
   <translation>Fortsetzen</translation>
  </message>
  <message>
   <source>Runtimes…</source>
   <translation>Laufzeiten…</translation>
  </message>
  <message>
   <source>Say what it is…</source>
   <translation>Art angeben…</translation>
  </message>
  <message>
   <source>Show</source>
   <translation>Zeigen</translation>
  </message>
  <message>
   <source>Show the folder</source>
   <translation>Ordner zeigen</translation>
  </message>
  <message>
   <source>Start from it</source>
   <translation>Davon ausgehen</translation>
  </message>
  <message>
   <source>Try again</source>
   <translation>Noch einmal versuchen</translation>
  </message>
  <message>
   <source>Try another seed</source>
   <translation>Anderen Seed versuchen</translation>
  </message>
  <message>
   <source>Try smaller sizes</source>
   <translation>Kleinere Größen versuchen</translation>
  </message>
  <message>
   <source>Try without the memory limit</source>
   <translation>Ohne Speichergrenze versuchen</translation>
  </message>
  <message>
   <source>Try {size}</source>
   <translation>{size} versuchen</translation>
  </message>
  <message>
   <source>Undo</source>
   <translation>Rückgängig</translation>
  </message>
  <message>
   <source>Use {name}</source>
   <translation>{name} verwenden</translation>
  </message>
 </context>
 <context>
  <name>opening</name>
  <message>
   <source>See that the file can be read, and its folder written.</source>
   <translation>Sorgen Sie dafür, dass die Datei gelesen und in ihren Ordner geschrieben werden kann.</translation>
  </message>
  <message>
   <source>{name} could not be copied.</source>
   <translation>{name} konnte nicht kopiert werden.</translation>
  </message>
 </context>
 <context>
  <name>options</name>
  <message>
   <source>4 bits</source>
   <translation>4 Bit</translation>
  </message>
  <message>
   <source>8 bits</source>
   <translation>8 Bit</translation>
  </message>
  <message>
   <source>8 bits (int8)</source>
   <translation>8 Bit (int8)</translation>
  </message>
  <message>
   <source>A factor on the noise that steps add (s_noise).</source>
   <translation>Ein Faktor für das Rauschen, das Schritte hinzufügen (s_noise).</translation>
  </message>
  <message>
   <source>About a third of the memory; details change.</source>
   <translation>Etwa ein Drittel des Speichers; Einzelheiten ändern sich.</translation>
  </message>
  <message>
   <source>About half the memory; hardly seen.</source>
   <translation>Etwa halber Speicher; kaum zu sehen.</translation>
  </message>
  <message>
   <source>All four</source>
   <translation>Alle vier</translation>
  </message>
  <message>
   <source>As MiDaS</source>
   <translation>Wie MiDaS</translation>
  </message>
  <message>
   <source>As NormalBae</source>
   <translation>Wie NormalBae</translation>
  </message>
  <message>
   <source>As f16, where numbers would get too large.</source>
   <translation>Wie f16, wo Zahlen zu groß würden.</translation>
  </message>
  <message>
   <source>As for ImageNet</source>
   <translation>Wie für ImageNet</translation>
  </message>
  <message>
   <source>As in A1111: the noise of a picture of this size, cropped or extended.</source>
   <translation>Wie in A1111: das Rauschen eines Bilds dieser Größe, beschnitten oder erweitert.</translation>
  </message>
  <message>
   <source>As the other weights</source>
   <translation>Wie die anderen Gewichte</translation>
  </message>
  <message>
   <source>As they are</source>
   <translation>Wie sie sind</translation>
  </message>
  <message>
   <source>Auto</source>
   <translation>Auto</translation>
  </message>
  <message>
   <source>Avoided beauty</source>
   <translation>Gemiedene Note</translation>
  </message>
  <message>
   <source>Avoided crop</source>
   <translation>Gemiedener Beschnitt</translation>
  </message>
  <message>
   <source>Avoided size</source>
   <translation>Gemiedene Größe</translation>
  </message>
  <message>
   <source>Avoided target</source>
   <translation>Gemiedenes Ziel</translation>
  </message>
  <message>
   <source>Away from the negative prompt, beside the guidance that the model was trained with. 1 is usual; else each step takes twice the time.</source>
   <translation>Weg vom negativen Prompt, neben der Guidance, mit der das Modell trainiert wurde. 1 ist üblich; sonst dauert jeder Schritt doppelt so lang.</translation>
  </message>
  <message>
   <source>Batch size</source>
   <translation>Stapelgröße</translation>
  </message>
  <message>
   <source>Beauty</source>
   <translation>Schönheit</translation>
  </message>
  <message>
   <source>Begin with</source>
   <translation>Beginnen mit</translation>
  </message>
  <message>
   <source>Begins at once; each step takes longer.</source>
   <translation>Beginnt sofort; jeder Schritt dauert länger.</translation>
  </message>
  <message>
   <source>Beside the text encoders only</source>
   <translation>Nur neben den Textencodern</translation>
  </message>
  <message>
   <source>Black is -1, white is 1.</source>
   <translation>Schwarz ist -1, Weiß ist 1.</translation>
  </message>
  <message>
   <source>Black is 0, white is 1.</source>
   <translation>Schwarz ist 0, Weiß ist 1.</translation>
  </message>
  <message>
   <source>Black is 0, white is 255.</source>
   <translation>Schwarz ist 0, Weiß ist 255.</translation>
  </message>
  <message>
   <source>Blend</source>
   <translation>Übergang</translation>
  </message>
  <message>
   <source>Blur</source>
   <translation>Unschärfe</translation>
  </message>
  <message>
   <source>Blur threshold</source>
   <translation>Schwelle der Unschärfe</translation>
  </message>
  <message>
   <source>CFG rescale</source>
   <translation>CFG-Reskalierung</translation>
  </message>
  <message>
   <source>Churn</source>
   <translation>Churn</translation>
  </message>
  <message>
   <source>Churn from</source>
   <translation>Churn ab</translation>
  </message>
  <message>
   <source>Churn to</source>
   <translation>Churn bis</translation>
  </message>
  <message>
   <source>Classes</source>
   <translation>Klassen</translation>
  </message>
  <message>
   <source>Clip skip</source>
   <translation>Clip-Skip</translation>
  </message>
  <message>
   <source>Columns that repeat up and down.</source>
   <translation>Säulen, die sich nach oben und unten wiederholen.</translation>
  </message>
  <message>
   <source>Compute beside the weights</source>
   <translation>Neben den Gewichten rechnen</translation>
  </message>
  <message>
   <source>Crop</source>
   <translation>Beschnitt</translation>
  </message>
  <message>
   <source>Device memory limit (GB)</source>
   <translation>Grenze des Gerätespeichers (GB)</translation>
  </message>
  <message>
   <source>Draws the surroundings of the mask at full size, and pastes them into the picture.</source>
   <translation>Zeichnet die Umgebung der Maske in voller Größe und setzt sie ins Bild ein.</translation>
  </message>
  <message>
   <source>ENSD in A1111: added to the seed of the noise that ancestral samplers add at each step. Many pictures were made with 31337.</source>
   <translation>ENSD in A1111: wird zum Seed des Rauschens addiert, das Ancestral-Sampler in jedem Schritt hinzufügen. Viele Bilder entstanden mit 31337.</translation>
  </message>
  <message>
   <source>Edges are edges.</source>
   <translation>Ränder sind Ränder.</translation>
  </message>
  <message>
   <source>Eta</source>
   <translation>Eta</translation>
  </message>
  <message>
   <source>Eta noise seed delta</source>
   <translation>Eta-Seed-Delta (ENSD)</translation>
  </message>
  <message>
   <source>Exact where that fits; else 8 bits, and 4 where those do not fit either.</source>
   <translation>Genau, wo das passt; sonst 8 Bit, und 4, wo auch die nicht passen.</translation>
  </message>
  <message>
   <source>Exact; takes the most memory.</source>
   <translation>Exakt; braucht den meisten Speicher.</translation>
  </message>
  <message>
   <source>Exact; twice the memory, often slower.</source>
   <translation>Genau; doppelter Speicher, oft langsamer.</translation>
  </message>
  <message>
   <source>For something new and calm; it needs a high strength.</source>
   <translation>Für etwas Neues und Ruhiges; braucht eine hohe Stärke.</translation>
  </message>
  <message>
   <source>For something new; it needs a high strength.</source>
   <translation>Für etwas Neues; braucht eine hohe Stärke.</translation>
  </message>
  <message>
   <source>For taking something out of a picture.</source>
   <translation>Um etwas aus einem Bild zu nehmen.</translation>
  </message>
  <message>
   <source>FreeU</source>
   <translation>FreeU</translation>
  </message>
  <message>
   <source>FreeU b1</source>
   <translation>FreeU b1</translation>
  </message>
  <message>
   <source>FreeU b2</source>
   <translation>FreeU b2</translation>
  </message>
  <message>
   <source>FreeU s1</source>
   <translation>FreeU s1</translation>
  </message>
  <message>
   <source>FreeU s2</source>
   <translation>FreeU s2</translation>
  </message>
  <message>
   <source>FreeU's part</source>
   <translation>Teil mit FreeU</translation>
  </message>
  <message>
   <source>From -1 to 1</source>
   <translation>Von -1 bis 1</translation>
  </message>
  <message>
   <source>From 0 to 1</source>
   <translation>Von 0 bis 1</translation>
  </message>
  <message>
   <source>From 0 to 255</source>
   <translation>Von 0 bis 255</translation>
  </message>
  <message>
   <source>From least to greatest</source>
   <translation>Vom kleinsten bis zum größten</translation>
  </message>
  <message>
   <source>Full (f32)</source>
   <translation>Voll (f32)</translation>
  </message>
  <message>
   <source>Guided part</source>
   <translation>Geführter Teil</translation>
  </message>
  <message>
   <source>Half (f16)</source>
   <translation>Halb (f16)</translation>
  </message>
  <message>
   <source>Half the memory; quick on graphics cards.</source>
   <translation>Halber Speicher; schnell auf Grafikkarten.</translation>
  </message>
  <message>
   <source>Half, wide range (bf16)</source>
   <translation>Halb, großer Bereich (bf16)</translation>
  </message>
  <message>
   <source>How LoRAs change the model; the picture is the same.</source>
   <translation>Wie LoRAs das Modell ändern; das Bild ist dasselbe.</translation>
  </message>
  <message>
   <source>How far details are blurred for it, in cells of 8 pixels.</source>
   <translation>Wie weit Einzelheiten dafür verwischt werden, in Zellen von 8 Pixeln.</translation>
  </message>
  <message>
   <source>How many of the steps have little noise.</source>
   <translation>Wie viele der Schritte wenig Rauschen haben.</translation>
  </message>
  <message>
   <source>How many pictures that batch of ComfyUI's had.</source>
   <translation>So viele Bilder hatte dieser Stapel von ComfyUI.</translation>
  </message>
  <message>
   <source>How much around the mask is drawn with it, in pixels.</source>
   <translation>Wie viel um die Maske herum mitgezeichnet wird, in Pixeln.</translation>
  </message>
  <message>
   <source>How much attention a part must get to be blurred; 1 is the average.</source>
   <translation>Wie viel Aufmerksamkeit ein Teil bekommen muss, um verwischt zu werden; 1 ist der Durchschnitt.</translation>
  </message>
  <message>
   <source>How much the model is told was cut off, left and top.</source>
   <translation>Wie viel dem Modell zufolge abgeschnitten wurde, links und oben.</translation>
  </message>
  <message>
   <source>How much weaker perturbed attention gets with each of the 1000 timesteps.</source>
   <translation>Um wie viel die gestörte Aufmerksamkeit mit jedem der 1000 Zeitschritte schwächer wird.</translation>
  </message>
  <message>
   <source>Invert</source>
   <translation>Umkehren</translation>
  </message>
  <message>
   <source>Keeps what is painted, and draws the rest anew.</source>
   <translation>Bewahrt das Gemalte und zeichnet den Rest neu.</translation>
  </message>
  <message>
   <source>Left and right</source>
   <translation>Links und rechts</translation>
  </message>
  <message>
   <source>Less per timestep</source>
   <translation>Weniger je Zeitschritt</translation>
  </message>
  <message>
   <source>LoRAs</source>
   <translation>LoRAs</translation>
  </message>
  <message>
   <source>Margin</source>
   <translation>Rand</translation>
  </message>
  <message>
   <source>Memory limit (GB)</source>
   <translation>Speichergrenze (GB)</translation>
  </message>
  <message>
   <source>Merge into the weights</source>
   <translation>In die Gewichte einrechnen</translation>
  </message>
  <message>
   <source>Mixes the noise of a second seed in: pictures that resemble each other.</source>
   <translation>Mischt das Rauschen eines zweiten Seeds hinein: Bilder, die einander ähneln.</translation>
  </message>
  <message>
   <source>Moves away from a picture whose details are blurred: finer details. 0.5 is usual, 0 is none; each step runs the model once more.</source>
   <translation>Entfernt sich von einem Bild, dessen Einzelheiten verwischt sind: feinere Einzelheiten. Üblich ist 0,5, ohne ist 0; jeder Schritt lässt das Modell einmal mehr laufen.</translation>
  </message>
  <message>
   <source>Moves away from a picture whose parts do not see each other: firmer shapes. 3 is usual, 0 is none; each step runs the model once more.</source>
   <translation>Entfernt sich von einem Bild, dessen Teile einander nicht sehen: festere Formen. Üblich ist 3, ohne ist 0; jeder Schritt lässt das Modell einmal mehr laufen.</translation>
  </message>
  <message>
   <source>Noise</source>
   <translation>Rauschen</translation>
  </message>
  <message>
   <source>Noise scale</source>
   <translation>Rauschstärke</translation>
  </message>
  <message>
   <source>None</source>
   <translation>Keine</translation>
  </message>
  <message>
   <source>Nothing</source>
   <translation>Nichts</translation>
  </message>
  <message>
   <source>Number in batch</source>
   <translation>Nummer im Stapel</translation>
  </message>
  <message>
   <source>Off</source>
   <translation>Aus</translation>
  </message>
  <message>
   <source>On</source>
   <translation>Ein</translation>
  </message>
  <message>
   <source>Only the part</source>
   <translation>Nur der Teil</translation>
  </message>
  <message>
   <source>Original size</source>
   <translation>Originalgröße</translation>
  </message>
  <message>
   <source>Panoramas and borders that go around.</source>
   <translation>Panoramen und Bordüren, die rundherum gehen.</translation>
  </message>
  <message>
   <source>Perturbed attention</source>
   <translation>Gestörte Aufmerksamkeit</translation>
  </message>
  <message>
   <source>Perturbed layers</source>
   <translation>Gestörte Schichten</translation>
  </message>
  <message>
   <source>Perturbed part</source>
   <translation>Gestörter Teil</translation>
  </message>
  <message>
   <source>Precision</source>
   <translation>Genauigkeit</translation>
  </message>
  <message>
   <source>Quick on processors, for models whose weights have 8 or 4 bits.</source>
   <translation>Schnell auf Prozessoren, für Modelle, deren Gewichte 8 oder 4 Bit haben.</translation>
  </message>
  <message>
   <source>Quick steps, after a while of preparing.</source>
   <translation>Schnelle Schritte nach etwas Vorbereitung.</translation>
  </message>
  <message>
   <source>Red and blue are swapped.</source>
   <translation>Rot und Blau sind vertauscht.</translation>
  </message>
  <message>
   <source>Red to the left, green up, blue to you.</source>
   <translation>Rot nach links, Grün nach oben, Blau zu Ihnen.</translation>
  </message>
  <message>
   <source>Repeats one picture of a batch that ComfyUI made of one seed; the first is 0.</source>
   <translation>Wiederholt ein Bild eines Stapels, den ComfyUI aus einem Seed erzeugte; das erste ist 0.</translation>
  </message>
  <message>
   <source>Resize seed from</source>
   <translation>Seed-Größe (A1111)</translation>
  </message>
  <message>
   <source>Rho</source>
   <translation>Rho</translation>
  </message>
  <message>
   <source>Rounded where the others are, and first where memory is short.</source>
   <translation>Gerundet, wo die anderen es sind, und zuerst, wo der Speicher knapp ist.</translation>
  </message>
  <message>
   <source>Seamless edges</source>
   <translation>Nahtlose Ränder</translation>
  </message>
  <message>
   <source>Second seed</source>
   <translation>Zweiter Seed</translation>
  </message>
  <message>
   <source>Self-attention guidance</source>
   <translation>Selbstaufmerksamkeit</translation>
  </message>
  <message>
   <source>Sigma max</source>
   <translation>Sigma max</translation>
  </message>
  <message>
   <source>Sigma min</source>
   <translation>Sigma min</translation>
  </message>
  <message>
   <source>Soft edge</source>
   <translation>Weiche Kante</translation>
  </message>
  <message>
   <source>Strengthens shapes and weakens what disturbs them.</source>
   <translation>Stärkt Formen und schwächt, was sie stört.</translation>
  </message>
  <message>
   <source>Stronger where there is more to see.</source>
   <translation>Stärker, wo mehr zu sehen ist.</translation>
  </message>
  <message>
   <source>Takes back the harsh contrast of high guidance.</source>
   <translation>Nimmt den harten Kontrast hoher Guidance zurück.</translation>
  </message>
  <message>
   <source>Target size</source>
   <translation>Zielgröße</translation>
  </message>
  <message>
   <source>Text encoders</source>
   <translation>Textencoder</translation>
  </message>
  <message>
   <source>The aesthetic score that goes with the negative prompt.</source>
   <translation>Die Ästhetik-Note zum negativen Prompt.</translation>
  </message>
  <message>
   <source>The aesthetic score that the refiner is told.</source>
   <translation>Die Ästhetik-Note, die dem Refiner gesagt wird.</translation>
  </message>
  <message>
   <source>The bits that each number of the model's large layers takes in memory.</source>
   <translation>Die Bits, die jede Zahl der großen Schichten des Modells im Speicher braucht.</translation>
  </message>
  <message>
   <source>The bits that each number of the text encoders' large layers takes.</source>
   <translation>Die Bits, die jede Zahl der großen Schichten der Textencoder belegt.</translation>
  </message>
  <message>
   <source>The blur of the mask's edge, in pixels.</source>
   <translation>Die Unschärfe der Maskenkante, in Pixeln.</translation>
  </message>
  <message>
   <source>The colours around it</source>
   <translation>Die Farben darum herum</translation>
  </message>
  <message>
   <source>The colours of ADE20K, for segmentation.</source>
   <translation>Die Farben von ADE20K, für Segmentierung.</translation>
  </message>
  <message>
   <source>The crop that goes with the negative prompt.</source>
   <translation>Der Beschnitt zum negativen Prompt.</translation>
  </message>
  <message>
   <source>The factor of the coarsest shapes.</source>
   <translation>Der Faktor der gröbsten Formen.</translation>
  </message>
  <message>
   <source>The factor of the next finer shapes.</source>
   <translation>Der Faktor der nächstfeineren Formen.</translation>
  </message>
  <message>
   <source>The factor of what the coarsest shapes take over unchanged.</source>
   <translation>Der Faktor dessen, was die gröbsten Formen unverändert übernehmen.</translation>
  </message>
  <message>
   <source>The factor of what the finer shapes take over unchanged.</source>
   <translation>Der Faktor dessen, was die feineren Formen unverändert übernehmen.</translation>
  </message>
  <message>
   <source>The first step starts from pure noise: darker darks.</source>
   <translation>Der erste Schritt beginnt mit reinem Rauschen: dunkleres Dunkel.</translation>
  </message>
  <message>
   <source>The highest noise level of the schedule.</source>
   <translation>Die höchste Rauschstufe des Zeitplans.</translation>
  </message>
  <message>
   <source>The highest noise level with churn (s_tmax).</source>
   <translation>Die höchste Rauschstufe mit Churn (s_tmax).</translation>
  </message>
  <message>
   <source>The layer of the text encoder that is used, counted from its end.</source>
   <translation>Die Schicht des Textencoders, die verwendet wird, von seinem Ende gezählt.</translation>
  </message>
  <message>
   <source>The least becomes black, the greatest white.</source>
   <translation>Das Kleinste wird schwarz, das Größte weiß.</translation>
  </message>
  <message>
   <source>The lowest noise level of the schedule.</source>
   <translation>Die niedrigste Rauschstufe des Zeitplans.</translation>
  </message>
  <message>
   <source>The lowest noise level with churn (s_tmin).</source>
   <translation>Die niedrigste Rauschstufe mit Churn (s_tmin).</translation>
  </message>
  <message>
   <source>The model as it is.</source>
   <translation>Das Modell, wie es ist.</translation>
  </message>
  <message>
   <source>The most memory of a graphics card that a picture may take, in GB. Weights that do not fit are copied to the card while it computes: slower, but the same picture.</source>
   <translation>Der meiste Speicher einer Grafikkarte, den ein Bild belegen darf, in GB. Gewichte, die nicht hineinpassen, werden auf die Karte kopiert, während sie rechnet: langsamer, aber dasselbe Bild.</translation>
  </message>
  <message>
   <source>The most memory that a picture may take, in GB.</source>
   <translation>Der höchste Speicherbedarf eines Bildes, in GB.</translation>
  </message>
  <message>
   <source>The noise that is added before each step (s_churn).</source>
   <translation>Das Rauschen, das vor jedem Schritt hinzukommt (s_churn).</translation>
  </message>
  <message>
   <source>The number format that is computed in.</source>
   <translation>Das Zahlenformat, in dem gerechnet wird.</translation>
  </message>
  <message>
   <source>The original size that goes with the negative prompt.</source>
   <translation>Die Originalgröße zum negativen Prompt.</translation>
  </message>
  <message>
   <source>The picture continues at its opposite edge, as a tile or a panorama does.</source>
   <translation>Das Bild geht an seinem gegenüberliegenden Rand weiter, wie eine Kachel oder ein Panorama.</translation>
  </message>
  <message>
   <source>The picture itself</source>
   <translation>Das Bild selbst</translation>
  </message>
  <message>
   <source>The quicker way for the picture.</source>
   <translation>Der schnellere Weg für das Bild.</translation>
  </message>
  <message>
   <source>The quickest that is right on the device.</source>
   <translation>Die schnellste, die auf dem Gerät stimmt.</translation>
  </message>
  <message>
   <source>The same factor everywhere.</source>
   <translation>Überall derselbe Faktor.</translation>
  </message>
  <message>
   <source>The seed of the variation; left empty, always a new one.</source>
   <translation>Der Seed der Variation; leer gelassen immer ein neuer.</translation>
  </message>
  <message>
   <source>The share of the noise that each step replaces by new.</source>
   <translation>Der Anteil des Rauschens, den jeder Schritt durch neues ersetzt.</translation>
  </message>
  <message>
   <source>The side of the tiles, in pixels, in which the VAE works to save memory.</source>
   <translation>Die Seite der Kacheln, in Pixeln, in denen die VAE arbeitet, um Speicher zu sparen.</translation>
  </message>
  <message>
   <source>The size that the model is told it draws.</source>
   <translation>Die Größe, die das Modell zu zeichnen glaubt.</translation>
  </message>
  <message>
   <source>The size that the model is told the photo had.</source>
   <translation>Die Größe, die das Foto dem Modell zufolge hatte.</translation>
  </message>
  <message>
   <source>The start and the end of FreeU, from 0 to 1 (last step).</source>
   <translation>Anfang und Ende von FreeU, von 0 bis 1 (letzter Schritt).</translation>
  </message>
  <message>
   <source>The start and the end of guidance, from 0 (first step) to 1 (last step).</source>
   <translation>Anfang und Ende der Guidance, von 0 (erster Schritt) bis 1 (letzter Schritt).</translation>
  </message>
  <message>
   <source>The start and the end of perturbed attention, from 0 to 1 (last step).</source>
   <translation>Anfang und Ende der gestörten Aufmerksamkeit, von 0 bis 1 (letzter Schritt).</translation>
  </message>
  <message>
   <source>The target size that goes with the negative prompt.</source>
   <translation>Die Zielgröße zum negativen Prompt.</translation>
  </message>
  <message>
   <source>The text encoders, which run once, begin at once.</source>
   <translation>Die Textencoder, die einmal laufen, beginnen sofort.</translation>
  </message>
  <message>
   <source>The width in pixels over which what is new joins the old.</source>
   <translation>Die Breite in Pixeln, auf der Neues in Altes übergeht.</translation>
  </message>
  <message>
   <source>Tiles that repeat in every direction.</source>
   <translation>Kacheln, die sich in jeder Richtung wiederholen.</translation>
  </message>
  <message>
   <source>Top and bottom</source>
   <translation>Oben und unten</translation>
  </message>
  <message>
   <source>True CFG</source>
   <translation>Wahre CFG</translation>
  </message>
  <message>
   <source>VAE tiles</source>
   <translation>VAE-Kacheln</translation>
  </message>
  <message>
   <source>Variation</source>
   <translation>Variation</translation>
  </message>
  <message>
   <source>Version 1</source>
   <translation>Version 1</translation>
  </message>
  <message>
   <source>Version 2</source>
   <translation>Version 2</translation>
  </message>
  <message>
   <source>Weights</source>
   <translation>Gewichte</translation>
  </message>
  <message>
   <source>What is painted over shows through.</source>
   <translation>Was übermalt ist, scheint durch.</translation>
  </message>
  <message>
   <source>What lies under the mask before it is drawn anew.</source>
   <translation>Was unter der Maske liegt, bevor neu gezeichnet wird.</translation>
  </message>
  <message>
   <source>What most networks take.</source>
   <translation>Das erwarten die meisten Netze.</translation>
  </message>
  <message>
   <source>Where attention is perturbed: mid, down, up, or layers as up_blocks.0, with commas.</source>
   <translation>Wo die Aufmerksamkeit gestört wird: mid, down, up oder Schichten wie up_blocks.0, mit Kommas.</translation>
  </message>
  <message>
   <source>Wildcards</source>
   <translation>Wortlisten</translation>
  </message>
  <message>
   <source>Words are drawn for __animals__ and for choices in braces; else they are plain text.</source>
   <translation>Für __tiere__ und für Auswahlen in geschweiften Klammern werden Wörter gezogen; sonst ist es einfacher Text.</translation>
  </message>
  <message>
   <source>Zero-terminal SNR</source>
   <translation>Zero Terminal SNR</translation>
  </message>
 </context>
 <context>
  <name>outlook</name>
  <message>
   <source>For all models</source>
   <translation>Für alle Modelle</translation>
  </message>
  <message>
   <source>It is being planned…</source>
   <translation>Wird geplant…</translation>
  </message>
  <message>
   <source>It needs about {peak} of the {budget} that may be used.</source>
   <translation>Es braucht etwa {peak} der {budget}, die verwendet werden dürfen.</translation>
  </message>
  <message>
   <source>Safelight starter</source>
   <translation>Safelight-Startmodell</translation>
  </message>
  <message>
   <source>That is more than is free: close other programs.</source>
   <translation>Das ist mehr, als frei ist: andere Programme schließen.</translation>
  </message>
  <message>
   <source>The denoiser is rounded to {bits} bits, to save memory, the text encoders to {text}.</source>
   <translation>Der Entrauscher wird auf {bits} Bit gerundet, um Speicher zu sparen, die Textencoder auf {text}.</translation>
  </message>
  <message>
   <source>The denoiser is rounded to {bits} bits, to save memory.</source>
   <translation>Der Entrauscher wird auf {bits} Bit gerundet, um Speicher zu sparen.</translation>
  </message>
  <message>
   <source>The device has no room for all of the model: parts of it are copied there at each step, which takes longer.</source>
   <translation>Das Gerät hat nicht für das ganze Modell Platz: Teile davon werden bei jedem Schritt dorthin kopiert, was länger dauert.</translation>
  </message>
  <message>
   <source>The model is rounded to {bits} bits, to save memory.</source>
   <translation>Das Modell wird auf {bits} Bit gerundet, um Speicher zu sparen.</translation>
  </message>
  <message>
   <source>The model stays loaded for the next pictures.</source>
   <translation>Das Modell bleibt für die nächsten Bilder geladen.</translation>
  </message>
  <message>
   <source>The parts of the model take turns, to save memory.</source>
   <translation>Die Teile des Modells wechseln sich ab, um Speicher zu sparen.</translation>
  </message>
  <message>
   <source>The picture is decoded in tiles, to save memory.</source>
   <translation>Das Bild wird in Kacheln dekodiert, um Speicher zu sparen.</translation>
  </message>
  <message>
   <source>The text encoders are rounded to {text} bits, to save memory.</source>
   <translation>Die Textencoder werden auf {text} Bit gerundet, um Speicher zu sparen.</translation>
  </message>
  <message>
   <source>last used {time}</source>
   <translation>zuletzt verwendet {time}</translation>
  </message>
 </context>
 <context>
  <name>packs</name>
  <message>
   <source>A GeForce or RTX card of the 30 series or newer, and NVIDIA's driver 580 or newer.</source>
   <translation>Eine GeForce- oder RTX-Karte ab der 30er-Reihe und NVIDIAs Treiber 580 oder neuer.</translation>
  </message>
  <message>
   <source>A Mac with Apple silicon.</source>
   <translation>Einen Mac mit Apple-Chip.</translation>
  </message>
  <message>
   <source>A card that AMD lists for ROCm, and ROCm 7.2 installed from AMD: it is not in the pack, because AMD does not publish it as packages for Python.</source>
   <translation>Eine Karte, die AMD für ROCm aufführt, und ein von AMD installiertes ROCm 7.2: Es ist nicht im Paket, weil AMD es nicht als Python-Pakete veröffentlicht.</translation>
  </message>
  <message>
   <source>A graphics processor with Direct3D 12.</source>
   <translation>Einen Grafikprozessor mit Direct3D 12.</translation>
  </message>
  <message>
   <source>A graphics processor with a driver for Direct3D 12, Vulkan or Metal; on Linux also libvulkan.so.1.</source>
   <translation>Einen Grafikprozessor mit einem Treiber für Direct3D 12, Vulkan oder Metal; unter Linux auch libvulkan.so.1.</translation>
  </message>
  <message>
   <source>AMD's compiler for Radeon and Instinct cards on Linux, in AMD's ONNX Runtime.</source>
   <translation>AMDs Compiler für Radeon- und Instinct-Karten unter Linux, in AMDs ONNX Runtime.</translation>
  </message>
  <message>
   <source>Accept and install</source>
   <translation>Annehmen und installieren</translation>
  </message>
  <message>
   <source>An AMD card that ROCm serves.</source>
   <translation>Eine AMD-Karte, die ROCm bedient.</translation>
  </message>
  <message>
   <source>An Intel Arc card or Core Ultra graphics, and Intel's driver.</source>
   <translation>Eine Intel-Arc-Karte oder Core-Ultra-Grafik und Intels Treiber.</translation>
  </message>
  <message>
   <source>An NVIDIA card of compute capability 7.5 or newer, and NVIDIA's driver 580 or newer.</source>
   <translation>Eine NVIDIA-Karte ab Compute Capability 7.5 und NVIDIAs Treiber 580 oder neuer.</translation>
  </message>
  <message>
   <source>An NVIDIA card of compute capability 7.5 or newer, and NVIDIA's driver.</source>
   <translation>Eine NVIDIA-Karte ab Compute Capability 7.5 und NVIDIAs Treiber.</translation>
  </message>
  <message>
   <source>An NVIDIA card of compute capability 7.5 to 9.0 or 12.0, and NVIDIA's driver 580 or newer.</source>
   <translation>Eine NVIDIA-Karte mit Compute Capability 7.5 bis 9.0 oder 12.0 und NVIDIAs Treiber 580 oder neuer.</translation>
  </message>
  <message>
   <source>Any maker's graphics processor through its ordinary driver: Direct3D 12, Vulkan or Metal.</source>
   <translation>Grafikprozessoren jedes Herstellers über ihren gewöhnlichen Treiber: Direct3D 12, Vulkan oder Metal.</translation>
  </message>
  <message>
   <source>Any x86-64 processor; Intel graphics from the 6th generation on, with Intel's driver.</source>
   <translation>Einen beliebigen x86-64-Prozessor; Intel-Grafik ab der 6. Generation mit Intels Treiber.</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>Checking that every byte has arrived as it should</source>
   <translation>Jedes angekommene Byte wird geprüft</translation>
  </message>
  <message>
   <source>Go back to {version}</source>
   <translation>Zurück zu {version}</translation>
  </message>
  <message>
   <source>Install</source>
   <translation>Installieren</translation>
  </message>
  <message>
   <source>Install {version}</source>
   <translation>{version} installieren</translation>
  </message>
  <message>
   <source>Intel's compiler for processors of any make, and for Intel's graphics and NPUs.</source>
   <translation>Intels Compiler für Prozessoren jedes Herstellers und für Intels Grafik und NPUs.</translation>
  </message>
  <message>
   <source>It cannot be used: {reason}.</source>
   <translation>Es kann nicht verwendet werden: {reason}.</translation>
  </message>
  <message>
   <source>It is about {n} times as fast as the plain processor here.</source>
   <translation>Es ist hier etwa {n}-mal so schnell wie der Prozessor allein.</translation>
  </message>
  <message>
   <source>It is not faster than the plain processor here.</source>
   <translation>Es ist hier nicht schneller als der Prozessor allein.</translation>
  </message>
  <message>
   <source>Measured: {gain}.</source>
   <translation>Gemessen: {gain}.</translation>
  </message>
  <message>
   <source>Microsoft's ONNX Runtime with DirectML, and the vendors' runtimes that Windows keeps for all programs.</source>
   <translation>Microsofts ONNX Runtime mit DirectML und die Laufzeiten der Hersteller, die Windows für alle Programme bereithält.</translation>
  </message>
  <message>
   <source>Microsoft's last ONNX Runtime with DirectML alone, for any adapter with Direct3D 12.</source>
   <translation>Microsofts letzte ONNX Runtime nur mit DirectML, für jeden Adapter mit Direct3D 12.</translation>
  </message>
  <message>
   <source>NVIDIA publishes its libraries on an index of its own alone, not as wheels on PyPI.</source>
   <translation>NVIDIA veröffentlicht seine Bibliotheken nur in einem eigenen Verzeichnis, nicht als Wheels auf PyPI.</translation>
  </message>
  <message>
   <source>NVIDIA's compiler for GeForce and RTX cards.</source>
   <translation>NVIDIAs Compiler für GeForce- und RTX-Karten.</translation>
  </message>
  <message>
   <source>NVIDIA's compiler for data centres and for cards of the Turing generation.</source>
   <translation>NVIDIAs Compiler für Rechenzentren und für Karten der Turing-Generation.</translation>
  </message>
  <message>
   <source>Needs {needs}</source>
   <translation>Braucht {needs}</translation>
  </message>
  <message>
   <source>ONNX Runtime with NVIDIA's CUDA and cuDNN, for NVIDIA's cards from Turing on and for data centres.</source>
   <translation>ONNX Runtime mit NVIDIAs CUDA und cuDNN, für NVIDIAs Karten ab Turing und für Rechenzentren.</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>Anhalten</translation>
  </message>
  <message>
   <source>Paused · {amount}</source>
   <translation>Angehalten · {amount}</translation>
  </message>
  <message>
   <source>PyTorch publishes it on download.pytorch.org/whl/rocm6.4 alone, from where it is not pinned yet.</source>
   <translation>PyTorch veröffentlicht es nur auf download.pytorch.org/whl/rocm6.4, von wo es noch nicht festgelegt ist.</translation>
  </message>
  <message>
   <source>PyTorch publishes it on download.pytorch.org/whl/xpu alone, from where it is not pinned yet.</source>
   <translation>PyTorch veröffentlicht es nur auf download.pytorch.org/whl/xpu, von wo es noch nicht festgelegt ist.</translation>
  </message>
  <message>
   <source>PyTorch's operators on AMD's cards.</source>
   <translation>Die Operatoren von PyTorch auf AMDs Karten.</translation>
  </message>
  <message>
   <source>PyTorch's operators on Apple's graphics processors.</source>
   <translation>Die Operatoren von PyTorch auf Apples Grafikprozessoren.</translation>
  </message>
  <message>
   <source>PyTorch's operators on Intel's graphics.</source>
   <translation>Die Operatoren von PyTorch auf Intels Grafik.</translation>
  </message>
  <message>
   <source>PyTorch's operators on NVIDIA's cards.</source>
   <translation>Die Operatoren von PyTorch auf NVIDIAs Karten.</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Repair</source>
   <translation>Reparieren</translation>
  </message>
  <message>
   <source>Resume</source>
   <translation>Fortsetzen</translation>
  </message>
  <message>
   <source>This Safelight has it already.</source>
   <translation>Dieses Safelight hat es schon.</translation>
  </message>
  <message>
   <source>This computer has no graphics card for it.</source>
   <translation>Dieser Computer hat keine Grafikkarte dafür.</translation>
  </message>
  <message>
   <source>Try again</source>
   <translation>Noch einmal versuchen</translation>
  </message>
  <message>
   <source>Trying it on this computer, which takes about a minute</source>
   <translation>Wird auf diesem Computer probiert, was etwa eine Minute dauert</translation>
  </message>
  <message>
   <source>Unpacking</source>
   <translation>Wird entpackt</translation>
  </message>
  <message>
   <source>Use it now</source>
   <translation>Jetzt verwenden</translation>
  </message>
  <message>
   <source>Version {version}, {size} on disk.</source>
   <translation>Version {version}, {size} auf dem Datenträger.</translation>
  </message>
  <message>
   <source>Waits for the other installation</source>
   <translation>Wartet auf die andere Installation</translation>
  </message>
  <message>
   <source>Windows 10 or 11; the vendors' runtimes need Windows 11 24H2, which downloads them itself.</source>
   <translation>Entweder Windows 10 oder 11; die Laufzeiten der Hersteller brauchen Windows 11 24H2, das sie selbst herunterlädt.</translation>
  </message>
  <message>
   <source>Works here. It is used once the pictures in hand are made.</source>
   <translation>Funktioniert hier. Verwendet wird es, sobald die laufenden Bilder fertig sind.</translation>
  </message>
  <message>
   <source>about 1.4 x the processor without it, where that computes in bfloat16</source>
   <translation>etwa 1,4-mal so schnell wie der Prozessor ohne es, wo dieser in bfloat16 rechnet</translation>
  </message>
  <message>
   <source>being installed</source>
   <translation>wird installiert</translation>
  </message>
  <message>
   <source>being tried</source>
   <translation>wird probiert</translation>
  </message>
  <message>
   <source>downloading, {n} %</source>
   <translation>wird heruntergeladen, {n} %</translation>
  </message>
  <message>
   <source>licence: {names}</source>
   <translation>Lizenz: {names}</translation>
  </message>
  <message>
   <source>{name} (proprietary)</source>
   <translation>{name} (proprietär)</translation>
  </message>
  <message>
   <source>{size} on disk</source>
   <translation>{size} auf dem Datenträger</translation>
  </message>
  <message>
   <source>{size} to download from {hosts}</source>
   <translation>{size} von {hosts} herunterzuladen</translation>
  </message>
  <message>
   <source>{title} is in use.</source>
   <translation>{title} wird verwendet.</translation>
  </message>
  <message>
   <source>{title} is installed.</source>
   <translation>{title} ist installiert.</translation>
  </message>
  <message>
   <source>{title} suits this computer.</source>
   <translation>{title} passt zu diesem Computer.</translation>
  </message>
 </context>
 <context>
  <name>passes</name>
  <message>
   <source>A little sharper: needs a strength of 0.5 or more.</source>
   <translation>Etwas schärfer: braucht eine Stärke von 0,5 oder mehr.</translation>
  </message>
  <message>
   <source>About {time} more.</source>
   <translation>Etwa {time} mehr.</translation>
  </message>
  <message>
   <source>Hard cells: needs a strength of 0.5 or more.</source>
   <translation>Harte Zellen: braucht eine Stärke von 0,5 oder mehr.</translation>
  </message>
  <message>
   <source>Quick and soft: needs a strength of 0.5 or more.</source>
   <translation>Schnell und weich: braucht eine Stärke von 0,5 oder mehr.</translation>
  </message>
  <message>
   <source>To {size}</source>
   <translation>Auf {size}</translation>
  </message>
  <message>
   <source>{before} becomes {after}.</source>
   <translation>Aus {before} wird {after}.</translation>
  </message>
  <message>
   <source>{factor} times: {size}</source>
   <translation>{factor}-fach: {size}</translation>
  </message>
  <message>
   <source>{name} is not among your models: choose another one below.</source>
   <translation>{name} ist nicht unter Ihren Modellen: wählen Sie unten ein anderes.</translation>
  </message>
  <message>
   <source>{name} is not among your upscalers: choose another one.</source>
   <translation>{name} ist nicht unter Ihren Upscalern: wählen Sie einen anderen.</translation>
  </message>
 </context>
 <context>
  <name>presets</name>
  <message>
   <source>Control layers</source>
   <translation>Steuerebenen</translation>
  </message>
  <message>
   <source>Control layers and image prompts</source>
   <translation>Steuerebenen und Bild-Prompts</translation>
  </message>
  <message>
   <source>LoRAs</source>
   <translation>LoRAs</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>Prompts</source>
   <translation>Prompts</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Einstellungen</translation>
  </message>
  <message>
   <source>Size, steps, sampler and other settings</source>
   <translation>Größe, Schritte, Sampler und andere Einstellungen</translation>
  </message>
 </context>
 <context>
  <name>queue</name>
  <message>
   <source>A picture is removed from the queue.</source>
   <translation>Ein Bild ist aus der Warteschlange entfernt.</translation>
  </message>
  <message>
   <source>{n} pictures are removed from the queue.</source>
   <translation>{n} Bilder sind aus der Warteschlange entfernt.</translation>
  </message>
 </context>
 <context>
  <name>remedies</name>
  <message>
   <source>Another device can make it.</source>
   <translation>Ein anderes Gerät kann es erzeugen.</translation>
  </message>
  <message>
   <source>Choose a file that has it, below the model's name.</source>
   <translation>Unter dem Namen des Modells eine Datei wählen, die ihn hat.</translation>
  </message>
  <message>
   <source>Choose a model.</source>
   <translation>Ein Modell wählen.</translation>
  </message>
  <message>
   <source>Choose another folder for pictures.</source>
   <translation>Einen anderen Ordner für Bilder wählen.</translation>
  </message>
  <message>
   <source>Choose the kind of the map in its control layer.</source>
   <translation>Wählen Sie die Art der Karte in ihrer Steuerebene.</translation>
  </message>
  <message>
   <source>Choose the picture to start from.</source>
   <translation>Das Ausgangsbild wählen.</translation>
  </message>
  <message>
   <source>Have Safelight check the hardware again.</source>
   <translation>Safelight die Hardware noch einmal prüfen lassen.</translation>
  </message>
  <message>
   <source>If you know which of these it is, say so in “About the model”.</source>
   <translation>Wenn Sie wissen, welches davon es ist, in „Über das Modell“ angeben.</translation>
  </message>
  <message>
   <source>Make it anew: Safelight then chooses the device.</source>
   <translation>Neu erzeugen: Safelight wählt dann das Gerät.</translation>
  </message>
  <message>
   <source>Make the picture smaller.</source>
   <translation>Das Bild kleiner machen.</translation>
  </message>
  <message>
   <source>Open the mask and invert it.</source>
   <translation>Die Maske öffnen und umkehren.</translation>
  </message>
  <message>
   <source>Or make it anew, without the limit it came with.</source>
   <translation>Oder neu erzeugen, ohne die Grenze, mit der es kam.</translation>
  </message>
  <message>
   <source>Or name the folder that has it.</source>
   <translation>Oder den Ordner nennen, der sie hat.</translation>
  </message>
  <message>
   <source>Or start from it: it is redrawn, all of it or a part.</source>
   <translation>Oder davon ausgehen: Es wird neu gemalt, ganz oder zum Teil.</translation>
  </message>
  <message>
   <source>The picture is finished and held in memory until Safelight closes: once there is room, “Try again” saves it.</source>
   <translation>Das Bild ist fertig und bleibt im Speicher, bis Safelight geschlossen wird: Sobald Platz ist, speichert „Noch einmal versuchen“ es.</translation>
  </message>
  <message>
   <source>The picture is finished and kept in {folder}: once there is room, “Try again” saves it.</source>
   <translation>Das Bild ist fertig und liegt in {folder}: Sobald Platz ist, speichert „Noch einmal versuchen“ es.</translation>
  </message>
  <message>
   <source>The runtime {name} brings what it needs; “Runtimes” installs it.</source>
   <translation>Die Laufzeit {name} bringt, was es braucht; „Laufzeiten“ installiert sie.</translation>
  </message>
  <message>
   <source>Where that model lacks this part, it can be taken from this file.</source>
   <translation>Wo diesem Modell der Teil fehlt, kann er aus dieser Datei kommen.</translation>
  </message>
  <message>
   <source>“Clear the cache…” shows what can be made anew.</source>
   <translation>„Zwischenspeicher leeren…“ zeigt, was sich neu erzeugen lässt.</translation>
  </message>
 </context>
 <context>
  <name>settings</name>
  <message>
   <source>Its model {name} is not there any more; the chosen one is kept.</source>
   <translation>Das Modell {name} ist nicht mehr da; das gewählte bleibt.</translation>
  </message>
  <message>
   <source>Of its text the first {n} characters are used.</source>
   <translation>Vom Text werden die ersten {n} Zeichen verwendet.</translation>
  </message>
 </context>
 <context>
  <name>updates</name>
  <message>
   <source>Looking for a newer version…</source>
   <translation>Eine neuere Version wird gesucht…</translation>
  </message>
  <message>
   <source>Safelight asks {place} only when you do. Nothing about you or it is sent.</source>
   <translation>Safelight fragt {place} nur, wenn Sie es verlangen. Nichts über Sie oder das Programm wird gesendet.</translation>
  </message>
  <message>
   <source>Safelight {version} is available.</source>
   <translation>Safelight {version} ist verfügbar.</translation>
  </message>
  <message>
   <source>Safelight {version} is ready. It starts the next time.</source>
   <translation>Safelight {version} ist bereit. Es startet beim nächsten Mal.</translation>
  </message>
  <message>
   <source>This is the newest version.</source>
   <translation>Das ist die neueste Version.</translation>
  </message>
  <message>
   <source>Unpacking and trying it. This takes about a minute.</source>
   <translation>Wird entpackt und probiert. Das dauert etwa eine Minute.</translation>
  </message>
  <message>
   <source>{size} on disk</source>
   <translation>{size} auf dem Datenträger</translation>
  </message>
  <message>
   <source>{size} to copy</source>
   <translation>{size} zu kopieren</translation>
  </message>
  <message>
   <source>{size} to download from {hosts}</source>
   <translation>{size} von {hosts} herunterzuladen</translation>
  </message>
 </context>
 <context>
  <name>upscale</name>
  <message>
   <source>Upscale ▾</source>
   <translation>Vergrößern ▾</translation>
  </message>
 </context>
 <context>
  <name>wildcards</name>
  <message>
   <source>See that the folder of lists can be written.</source>
   <translation>Prüfen, ob in den Ordner der Listen geschrieben werden kann.</translation>
  </message>
  <message>
   <source>The list {name} could not be changed.</source>
   <translation>Die Liste {name} konnte nicht geändert werden.</translation>
  </message>
 </context>
</TS>
